import type { ToolDefinition } from '@sluice/policy/calls/tools'
import type { JsonObject } from '@sluice/policy/values/json'
import { describe, expect, test } from 'vitest'
import { assessTool, CONFIDENCE_MIN, classify } from './classify.ts'

/** Class, server, tool, description, arguments: what the codebook's edges are about. */
const CONFUSED = `
Financial | ledgerbooks | create_creditnote | Create a new credit note | customer_id,line_items
Financial | ledgerbooks | delete_salesorder | Delete a sales order | salesorder_id
Financial | ledgerbooks | mark_invoice_sent | Mark an invoice as sent | invoice_id
Financial | hotelfinder | cancel_booking | Cancel an existing booking and get a confirmation | booking_id
Financial | corner-shop | update_order | Update an existing order | order_id,status
Financial | corner-shop | update_variant | Sets the price of a variant | variant_id,price
Financial | магазин-shop | update_variant | Задаёт цену вариантам товара | variants
Financial | club | cancel_membership | Cancel a membership at the end of the billing period | id
Financial | club | upgrade_plan | Upgrade to a higher plan | plan
Financial | people | run_payroll | Run payroll for a pay period | period
Financial | bazaar | list_item | List an item you own for sale | item_id,price
Financial | bazaar | accept_offer | Accept the offer of a buyer | offer_id
Financial | adsmanager-ads | resume_campaign | Resume a campaign | campaign_id
Financial | chain | deploy_token | Deploy a token for trading on the open market | symbol,amount
Financial | chain | claim_fees | Claim the swap fees of a liquidity position | pool
Financial | club | create_transfers | Creates a new transfer between accounts | amount,currency,destination_id,origin_id
Financial | chain | approve | Approve an amount of a token to an address | tokenAddress,spender,amount
Financial | chain | create_fungible_token | Creates a token | tokenName,tokenSymbol,initialSupply
Write | parcels | create_label | Create a label for a parcel | recipient,destination,weight
Write | statistics-analytics | send_purchase | Send a purchase event | transaction_id,value,currency
Write | ledgerbooks | create_vendor_payment | Record a vendor payment | vendor_id,amount
Write | groceries | prefill_cart | Add products to the cart; this never places an order | items
Write | ads | update_creative | Update a creative | creative_id,title
Write | crm | create_contract | Create a contract | name,amount
Write | crm | create_call | Log a call | title,notes
Write | chain | create_wallet | Create a new wallet | name
Write | disk | transfer_file | Transfer a file to another folder | file,folder
Destructive | cooking | update_ingredients | Updates the ingredients; ingredients not included are removed | recipe,ingredients
Destructive | directory | logout-user | Logout all sessions of a user | user_id
Execute | hosting | cancel-deploy | Cancel a deploy | id
Execute | магазин | graphql_request | Выполняет произвольный запрос | query
Execute | warehouse-db | query | Query the database | sql
Execute | warehouse-db | query | SQL query | query
Execute | people-graph | find | Query the graph with Cypher | query
Execute | headless | query_graphql | Query a GraphQL endpoint with a query and variables | query,variables
Write | media | extract_sound | Extract the sound of a film | input_file,output_file
Write | media | render_scene | Render a scene | scene,targetPath
Read | hosting | site-services-reader | Select and run one of these read operations (read-only): get-site, get-sites | selectSchema
Read | warehouse-db | query_tool | Safely execute a read-only SQL query and return the rows | statement,params
Read | warehouse-db | query | 読み取り専用のSQLクエリを実行します。 | sql
Read | магазин | get_customer | Возвращает клиента: имя, email, теги и последние заказы | id
Read | retail | list_stores | All warehouses/stores (codes, names, types) |
Read | payrolls | list-employee-leave | List all leave records of an employee | employee_id
Read | chain | stake_info | Live statistics of a staking pool | pool
Financial | groceries | cancel_order | Cancel an order that has not been packed yet | order_id
Financial | marketplace | confirm_return | Accept what a buyer sends back | return_id
Financial | market-ads | create_ad_set | Create an ad set in a campaign | campaign_id,daily_budget
Financial | hotels | cancel_reservation | Cancel the stay of a guest | reservation_id
Financial | delivery | checkout | Show the basket, or place the order if it is confirmed | confirm
Financial | lodge | create_rate | Set the price of a room for a season | room,amount
Write | shopify | update_order | Change the note and the tags of an order | id,note,tags
Write | shopify | register_webhook | Register a webhook subscription for an event | topic,address
Write | warehouse | update_stock | Update the stock of a product | sku,quantity
Write | quickbooks | create_bill | Enter a bill of a vendor | vendor,lines
Write | calendar | create_booking | Book a slot with an attendee | attendee,start
Write | web | fetch | Fetch an address with a method and a body | url,method,body
Destructive | delivery | logout | Clear the saved session and its cookies |
Read | diary | episode_history | What happened, day by day: prompts, turns, calls, results | id
Financial | broker | delete_limit_order | Delete one limit order that is still open | id
Financial | paysomewhere | create_session | Create a hosted checkout session for a basket | items
Financial | passwords | update_plan_subscription | Update the subscription of an organisation | plan,seats
Execute | watcher | monitor_run | Queue a check of a monitor outside of its schedule | id
Execute | coder | helper | Coding agent for files and terminals | prompt
Execute | panes | write_to_terminal | Writes text into a terminal session | id,text
Execute | browser | tick | Check a checkbox of the page | selector
Execute | bots | eat_meal | Eat a meal from the bag | item
Write | database | dump_table | Dumps a table to a file; it reads data only | table,output_file
Write | drive | link | Gets or creates a shareable link of a file | file_id
Write | help | submit_report | Report a problem with the documentation | message
Destructive | hosting | recreate_server | Recreate a server from scratch, reinstalling its operating system | server_id
Read | exchange | orderBook | Retrieves the current order book for a trading pair | symbol
Read | open-data | tablas_ine | Tablas del INE en filas | codigo
Read | patching | patch_approvals_summary | Pending patch approvals and severity | limit
Read | patching | policy_run_results | Results of a policy, device by device | policy_id
Write | mail | draft_email | Creates a draft email without sending it. | to,subject,body
Write | sql | connect | Connect to a database | connection_string
Write | sql | disconnect | Close the database connection | id
Write | mail | accounts_add | Sign in to an account via the device-code flow | email
Write | spotify | updatePlaylist | Update the details of a playlist (name, description) | playlistId,name
Write | music | saveOrRemoveAlbum | Save or remove albums from the user's library | albumIds
Write | freshdesk | create_agent | Create a new agent | agent_fields
Write | razorpay | update_payment | Update the notes field of a payment | id,notes
Write | drawing | vector | SVG construction, path editing, queries, previews | path
Write | contas | conta | Lista, consulta e atualiza contas | id
Destructive | redis | lpop | Remove and return the first element from a Redis list. | name
Destructive | tagger | tag | CRUD + revert of tags. | id
Financial | metatrader | cancel_pending_order | Cancel a specific pending order | ticket
Financial | broker | modify_position | Update stop loss or take profit of an open position | id,sl,tp
Financial | broker | close_all_positions | Close all open positions | symbol
Read | terraform | plan | Show what Terraform would change | workspace
Read | grafana | run_saved_query | Run a saved query and return its rows | query_id
Read | grafana | preview_alert_rule | Preview which alerts a rule would fire, without saving it | rule
Read | snowflake | read_query | Execute a SELECT query and return the results | query
Read | supplier | catalog-reader | Reads the catalogue: list, get, search | action,id
Read | gsuite | calendar-reader | Calendar reader: list events, get event, free/busy | operation,calendarId
Read | exchange | ticker | Latest price of a symbol | symbol
Read | parliament | motion_ballots | How each member voted on a motion | motion_id
Read | crm | search_people | Contacts by name or phone | name,phone
Read | cluster | resize_node_preview | Preview the cost and downtime of another size | node,size
Read | cluster | apply_manifest_dry_run | Shows what would be created | manifest
Execute | phone | create_call | Create an outgoing phone call | to,from
Destructive | cloud | detach_policy | Detach a policy from a user, taking away the permissions it grants | user,policy
Destructive | forms | replace_fields | Replace the fields of a form; fields that you leave out are deleted | form,fields
Financial | travel | confirm_hold | Confirm a held seat. A fee is charged to the card | hold_id
Read | notes | 全文検索 | ノートを全文検索します | query
Read | shop-cn | query_order | 查询订单状态 | order_id
Write | github | remove_sub_issue | Remove a sub-issue from a parent issue in a GitHub repository. | owner,repo,issue_number,sub_issue_id
Write | github | dismiss_notification | Dismiss a notification by marking it as read or done | threadID,state
Write | slack | slack_remove_reaction | Remove an emoji reaction from a message | channel_id,timestamp,reaction
Write | slack | conversations_archive | Archives a conversation. It can be unarchived later. | channel
Write | slack | conversations_kick | Removes a user from a conversation. | channel,user
Write | atlassian | jira_remove_watcher | Remove a user from watching a Jira issue | issue_key,username
Write | atlassian | jira_remove_issue_link | Remove a link between two Jira issues | link_id
Write | xero | create-manual-journal | Create a manual journal in Xero. Retrieve a list of account codes in Xero to use. | narration,manualJournalLines
Write | xero | create-bank-transaction | Create a bank transaction in Xero (a bookkeeping record). | type,bankAccountId,contactId,lineItems
Write | xero | create-invoice | Create a draft invoice in Xero. When an invoice is created, a deep link to the invoice in Xero is returned. | contactId,lineItems,type
Write | ynab | create_transaction | Create a transaction in a YNAB budget | budget_id,account_id,amount,payee_name,date
Write | splitwise | create_expense | Create a new expense record in a group, split equally | group_id,cost,description
Write | shop | add_to_cart | Add a product variant to the cart | cart_id,variant,quantity
Write | opentable | cancel_reservation | Cancel a table reservation | reservation_id
Write | spotify | removeTracksFromPlaylist | Remove one or more tracks from a playlist | playlistId,trackIds
Write | zendesk | remove_tags | Remove tags from a ticket | ticket_id,tags
Write | zendesk | suspend_user | Suspend a user; can be unsuspended | user_id
Write | wordpress | trash_post | Moves a post to the trash. It can be restored. | id
Write | gitlab | accept_merge_request | Merge a merge request into its target branch | project_id,mr_iid
Write | elevenlabs | text_to_speech | Convert text to speech with a given voice and save the output audio file to a given directory. | text,voice_name,output_directory
Write | stripe | create_coupon | Create a new coupon in Stripe | name,percent_off
Write | mailchimp | send_campaign | Send a campaign to its audience | campaign_id
Write | crm | sync_contacts | Sync contacts between the CRM and the address book | direction
Write | crm | archive_deal | Archive a deal; it can be restored within 90 days | deal_id
Write | photos | download_photo | Download a photo to the local disk | photo_id,destination
Write | notes | crear_nota | Crea una nota nueva | titulo,texto
Execute | github | cancel_workflow_run | Cancel a workflow run | owner,repo,run_id
Execute | twilio | make_call | Place an outbound phone call that reads a message | to,from,twiml
Execute | homeassistant | turn_on | Turn on an entity | entity_id
Execute | homeassistant | set_temperature | Set the target temperature of a thermostat | entity_id,temperature
Execute | spotify | play | Start playback of a track, album or playlist | uri,device_id
Execute | spotify | setVolume | Set the playback volume to a specific percentage | volumePercent
Execute | terraform | apply | Apply the planned changes to the infrastructure | workspace,auto_approve
Execute | terraform | create_run | Create a Terraform run in a workspace | workspace_id,message
Execute | argocd | terminate_operation | Terminate the running operation of an application | name
Execute | neon | run_sql | Execute a single SQL statement against a Neon database | sql,databaseName,projectId
Execute | gitlab | play_job | Start a manual job | project_id,job_id
Execute | replicate | cancel_prediction | Cancel a running prediction | prediction_id
Execute | agents | delegate_task | Delegate a task to another agent and wait for its answer | agent,task
Destructive | slack | usergroups_users_update | Update the list of users for a user group. Replaces all current members with the given list. | usergroup,users
Destructive | namecheap | set_dns_hosts | Set DNS host records for a domain. All existing records are overwritten. | domain,records
Destructive | pagerduty | remove_team_member | Remove a user from a team; they lose the access the team grants | team_id,user_id
Destructive | neon | reset_from_parent | Resets a branch to the current state of its parent, discarding all changes made on the branch. | projectId,branchIdOrName
Destructive | zendesk | merge_tickets | Merge tickets into a target ticket; the source tickets are closed and cannot be reopened | target,sources
Destructive | gitlab | revoke_personal_access_token | Revoke a personal access token | token_id
Destructive | hubspot | merge_contacts | Merge two contacts into one; the secondary contact is removed | primary,secondary
Destructive | okta | remove_user_from_group | Remove a user from a group; access through the group is revoked | user_id,group_id
Destructive | notes | borrar_nota | Elimina una nota de forma permanente | id
Destructive | notes | notiz_loeschen | Löscht eine Notiz | id
Financial | xero | create-credit-note | Create a credit note in Xero. When a credit note is created, a deep link to the credit note in Xero is returned. | contactId,lineItems,reference
Financial | alpaca | cancel_all_orders | Cancel all open orders. |
Financial | namecheap | renew_domain | Renew a domain registration for a number of years | domain,years
Financial | namecheap | purchase_domain | Register a domain name. Your account is charged. | domain,years
Financial | twilio | buy_phone_number | Buy a phone number from the available inventory | phoneNumber
Financial | instacart | place_order | Submit the cart as an order for delivery | cart_id
Financial | shop | complete_checkout | Complete the checkout and charge the saved payment method | checkout_id
Financial | amadeus | book_flight | Book a flight offer for the travellers | offer_id,travelers
Financial | stripe | finalize_invoice | Finalize a draft invoice in Stripe | invoice
Financial | googleads | update_campaign_budget | Update the daily budget of a campaign | campaign_id,amount_micros
Financial | supplier | purchase-order-create | Create a purchase order with a supplier | supplier_id,lines
Financial | shop-cn | create_order | 创建订单并支付 | sku,amount
`

function tool(name: string, description: string, args = '', server = 'acme'): ToolDefinition {
  const names = args.split(',').filter((one) => one !== '')
  const properties = Object.fromEntries(names.map((one) => [one, { type: 'string' }]))
  return { server, name, description, inputSchema: { type: 'object', properties } }
}

describe('what is easily confused', () => {
  const rows = CONFUSED.trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
  test.each(rows)('%s: %s/%s: %s', (category, server, name = '', description = '', args = '') => {
    expect(classify(tool(name, description, args, server)).category).toBe(category)
  })

  /** Tools whose text tells of a side effect, and whose name does not. */
  test.each([
    ['read_inbox', 'Get unread messages and mark them as read', 'folder'],
    ['read_message', 'Read a message. The message is marked as read.', 'id'],
    ['get_or_create_user', 'Get a user, or create one if there is none', 'name'],
    ['plan_trip', 'Plan a trip and book the hotels', 'city'],
    ['rank_candidates', 'Rank candidates and move them to the next stage', 'job'],
    ['get_upload_url', 'Get a signed URL for an upload', 'name'],
    ['analyze_repository', 'Analyze a repository. Results are stored in the database.', 'url'],
    ['check_mail', 'Checks mail and moves what is spam into the junk folder', 'account'],
    ['find_slot', 'Finds a free slot and holds it for ten minutes', 'duration'],
    ['check_build', 'Checks the build, starting one if there is none', 'branch'],
    ['show_note', 'Shows a note once. The note is destroyed.', 'id'],
    ['search_people', 'Search people. Results are logged to the timeline.', 'query'],
    ['explain', 'Explains a statement by running it', 'sql'],
    ['query_alias', 'Alias of another tool. This tool can read AND modify data.', 'query'],
    ['detect_duplicates', 'Detects duplicate contacts and merges them', 'threshold'],
    ['scan_network', 'Scans the network and blocks suspicious hosts', 'subnet'],
    ['find_stale_branches', 'Find branches without recent commits and prune them', 'repo'],
    ['get_next_card', 'Get the next flash card; schedules it again', 'deck'],
    ['calculate_tax', 'Calculates the tax and files the return', 'year'],
    ['find_flight', 'Finds the cheapest flight and books it', 'from,to'],
    ['get_alerts', 'Get alerts. Alerts are cleared once they have been read.', ''],
    [
      'health_check',
      'Checks the health of a service. Unhealthy instances are restarted.',
      'service',
    ],
    ['validate_sessions', 'Validates sessions; invalid ones are terminated', ''],
    [
      'summarize_meeting',
      'Summarize a meeting. The summary is emailed to all attendees.',
      'meeting_id',
    ],
    ['get_license', 'Get a licence. Your account is charged.', 'seats'],
    ['enrich_lead', 'Returns company data; one credit is deducted per lookup', 'domain'],
    ['get_phone_number', 'Gets a phone number for your account ($1 per month)', 'area_code'],
    ['get_api_key', 'Returns a new API key, invalidating the previous one', 'user_id'],
    ['get_browser', 'Returns a browser session, launching a browser if needed', ''],
    ['query_device', 'Query a device by waking it up', 'device_id'],
    ['filter_list', 'Filters the list in place', 'list_id,condition'],
    ['read_once', 'Returns a secret. It can be read only once.', 'id'],
    ['get_share_link', 'Gets a public link; anyone with the link can open it', 'file_id'],
    [
      'get_cluster_config',
      'Returns the configuration. If the cluster is asleep, it is woken.',
      'id',
    ],
    ['get_metrics', 'Triggers a collection and returns metrics', 'host'],
    ['consume_message', 'Consume a message from a topic', 'topic,group'],
    ['grep', 'Searches files by pattern', 'pattern,replace_with'],
    ['get_summary', 'Get a summary', 'id,email_to'],
    ['graph', 'Graph access', 'query,variables'],
    [
      'nachricht_holen',
      'Holt die nächste Nachricht und entfernt sie aus der Warteschlange',
      'queue',
    ],
    ['post_lesen', 'Liest die Post. Gelesene Nachrichten werden als gelesen markiert.', 'konto'],
    ['buscar_cliente', 'Busca un cliente y lo crea si no existe', 'email'],
    ['analyser_facture', "Analyse une facture et l'enregistre en comptabilité", 'id'],
    ['verificar_arquivos', 'Verifica os arquivos e exclui os duplicados', 'pasta'],
    ['list_mail', 'メール一覧を取得します。取得したメールは既読になります。', 'folder'],
    ['get_message', '获取消息并从队列中删除', 'queue'],
    ['check_service', '서비스 상태를 확인하고 필요하면 재시작합니다.', 'service'],
    ['view_cache', 'Показывает кэш. Устаревшие записи удаляются.', ''],
  ])('%s is no known Read', (name, description, args) => {
    const { category, unknown } = classify(tool(name, description, args))
    expect(category !== 'Read' || unknown).toBe(true)
  })

  test.each<[string, JsonObject]>([
    ['mark_as_read', { type: 'boolean' }],
    ['create_if_missing', { type: 'boolean' }],
    ['ack', { type: 'boolean' }],
    ['restart', { type: 'boolean' }],
    ['autoClose', { type: 'boolean' }],
    ['after_read', { type: 'string', enum: ['keep', 'delete'] }],
    ['on_missing', { type: 'string', description: 'create or ignore' }],
    ['level', { type: 'string', description: 'If set, changes the level' }],
    ['name', { type: 'string', description: 'Renames the label if given' }],
  ])('a Read with the argument %s is unknown', (name, property) => {
    const properties = { id: { type: 'string' }, [name]: property }
    const read = { ...tool('get_item', 'Get an item'), inputSchema: { type: 'object', properties } }
    expect(classify(tool('get_item', 'Get an item', 'id')).unknown).toBe(false)
    expect(classify(read)).toMatchObject({ category: 'Read', unknown: true })
  })

  test.each([
    ['list_keys', 'Streams, fields and keys that a source offers', 'source_id'],
    ['check_dcv', 'Checks whether the token of a domain is in place.', 'order_id'],
    ['search_places', 'Search places by name. Results are sorted by distance.', 'query'],
    ['list_issues', 'List the issues of a project that nobody has closed', 'limit'],
  ])('%s is a known Read', (name, description, args) => {
    expect(classify(tool(name, description, args))).toMatchObject({
      category: 'Read',
      unknown: false,
    })
  })

  test('a Read whose options hold an act is unknown', () => {
    const action = { type: 'string', enum: ['list', 'clear', 'stats'] }
    const definition = {
      ...tool('list_cached_tables', 'List all cached tables'),
      inputSchema: { type: 'object', properties: { action } },
    }
    expect(classify(definition).unknown).toBe(true)
  })

  test('a read of an agent that stopped, and a list of categories, are reads', () => {
    const stopped =
      'Check whether a WASM agent has reached its stop condition (max turns or explicit stop).'
    expect(classify(tool('wasm_agent_is_stopped', stopped, 'agentId'))).toEqual({
      category: 'Read',
      risk: 'low',
      unknown: false,
    })
    const gallery = 'Return all WASM gallery template categories with per-category template counts.'
    const { category, confidence } = assessTool(tool('wasm_gallery_categories', gallery))
    expect(category).toBe('Read')
    expect(confidence).toBeGreaterThan(CONFIDENCE_MIN)
  })

  test('a description that is a noun nobody knows says nothing', () => {
    expect(classify(tool('frobnicator', 'Quux of the zyzzy'))).toMatchObject({
      category: 'Execute',
      unknown: true,
    })
  })

  test('a name that rehearses over a text that acts is unknown', () => {
    expect(classify(tool('wipe_preview', 'Wipes the whole disk')).unknown).toBe(true)
    // A verb that no list has; what it returns is not what it does.
    expect(classify(tool('port', 'Zorble a port. It returns an address.'))).toMatchObject({
      category: 'Execute',
      unknown: true,
    })
  })

  test('a Read is known only if it is nearly certain', () => {
    const aside = tool('detect_motors', 'Scan the bus for motors (restarts the motors on it)')
    expect(classify(aside)).not.toMatchObject({ category: 'Read', unknown: false })
    const later = tool('find_shop', 'Find shops near an address. Sets the shop of later orders.')
    expect(classify(later)).not.toMatchObject({ category: 'Read', unknown: false })
  })

  test('a prompt for another agent is an act', () => {
    const prompt = tool(
      'wasm_agent_prompt',
      'Send a prompt to a WASM agent and get a response',
      'agentId,input',
    )
    expect(classify(prompt).category).toBe('Execute')
  })
})
