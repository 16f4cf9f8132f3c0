// The verbs that tools are named and described by, in families, each with the class that it speaks for by itself.
// What a family and a verb weigh is learnt (weights.json). Verbs of English are types too, so that a rule that
// names one which is not in this table does not compile.

import type { Category } from '@sluice/policy/calls/tools'
import type { WordsOf } from './words-of.ts'

/** A family of verbs: they do the same sort of thing to whatever they are done to. */
interface FamilyEntry {
  /** What such a verb does, for people: it follows "the verb of the name:". */
  readonly act: string
  /** The class that the family speaks for by itself. */
  readonly category: Category
  /** Base forms, several on a line. A verb may be in several families. */
  readonly english: readonly string[]
  /** Imperatives, infinitives and third persons of Spanish, Portuguese, French, Italian, German and Dutch. */
  readonly otherLanguages?: readonly string[]
}

export const FAMILIES = {
  look: {
    act: 'looking something up',
    category: 'Read',
    english: [
      'get list read search find fetch query show describe count check view lookup look retrieve browse',
      'inspect discover identify enumerate examine explore peek poll ping monitor watch observe detect',
      'locate see return obtain access scan crawl scrape extract load tell whoami know learn lists recall',
      'trace tail receive track consume preview ask answer help select match introspect dump research',
      'investigate determine gather reveal report resolve download log decompile disassemble paginate',
      'surface reads grep probe sample whois nslookup filter quote cite glance',
    ],
    otherLanguages: [
      'devuelve devolver devolve retorna verifica verificar renvoie retourne vérifie calcule calcula',
      'calcular rechnet berechnet prüft durchsucht durchsuchen liefert gibt compara comparer vergleicht',
      'traduit obtener obtiene obter obtém obtem buscar busca listar consultar consulta mostrar muestra',
      'leer lee recuperar recupera encontrar ler rechercher recherche chercher lister liste afficher',
      'affiche récupérer récupère recuperer obtenir consulter lire trouver cercare cerca elencare elenca',
      'leggere mostra ottenere ottieni suchen sucht abrufen ruft holen holt anzeigen zeigt auflisten listet',
      'lesen liest finden findet zoeken zoekt ophalen toon toont lezen bekijken bekijk extrahiert',
      'vergleichen controleer controleert descubre exibe visualiza listagem pesquisa pesquisar comprobar',
      'comprueba analiza analizar valida validar extrae extraer traduce analisa extrai analyse valide',
      'extrait analysiert validiert übersetzt ottiene legge confronta calcola analizza estrae haalt leest',
      'vergelijkt',
    ],
  },
  judge: {
    act: 'working something out',
    category: 'Read',
    english: [
      'analyze analyse validate verify compare summarize summarise explain diff audit lint estimate',
      'calculate compute evaluate assess predict forecast recommend suggest rank score classify simulate',
      'measure benchmark parse decode encode hash tokenize translate transcribe geocode debug diagnose',
      'review plan think reason interpret enrich rerank moderate embed vectorize ocr caption triangulate',
      'infer rate assert expect convert aggregate profile optimize test wait rephrase paraphrase proofread',
      'decrypt derive normalize correlate solve deduplicate outline brainstorm critique multiply divide',
      'subtract intersect concatenate minify quantize guess weigh depict symbolicate pinpoint uncover',
      'triage',
    ],
  },
  render: {
    act: 'showing something',
    category: 'Read',
    english: [
      'display preview visualize visualise render screenshot snapshot capture format guide provide print',
      'chart plot highlight draw',
    ],
  },
  make: {
    act: 'making something',
    category: 'Write',
    english: [
      'create add insert register make append prepend upsert provision allocate compose draft author',
      'introduce open mint reserve duplicate fork initialize init setup bootstrap scaffold enroll populate',
      'plant seed book block relist construct instantiate establish raise declare admit assemble fabricate',
      'ensure forge materialize onboard appoint nominate recruit',
    ],
    otherLanguages: [
      'ajoutez registra registrar inscrit reserva crear crea criar cria agregar agrega añadir añade',
      'adicionar adiciona créer crée creer ajouter ajoute creare aggiungere aggiungi erstellen erstellt',
      'anlegen legt hinzufügen hinzufuegen fügt maken maakt toevoegen aanmaken genera gera cadastra génère',
      'generiert erzeugt generieren aggiunge voegt',
    ],
  },
  change: {
    act: 'changing something',
    category: 'Write',
    english: [
      'update edit set modify change put patch write rename move configure adjust alter enable disable',
      'toggle reorder sort arrange resize transform rewrite amend extend increment decrement switch',
      'customize fill format convert fix refactor align group ungroup swap replace override apply assign',
      'merge unmerge sync upgrade downgrade rotate transition annotate freeze unfreeze lock unlock hide',
      'unhide mute unmute activate deactivate promote demote define specify place rearrange tune prioritize',
      'reprioritize categorize recategorize unset correct revise improve localize expand increase reduce',
      'decrease scope stage unstage enhance refine reword reformat transfer rebase cherry overwrite protect',
      'unprotect block unblock ignore unignore flag unflag renew suspend unsuspend migrate fold split',
      'relabel reassign recolor crop trim repair revalidate renumber redact mask grade reopen remap style',
      'restyle color paint flip mirror reposition relocate retitle flatten wrap unwrap indent sanitize',
      'anonymize encrypt quarantine isolate throttle redirect reroute squash opt pad nudge bump adapt adopt',
      'amplify animate blend bypass clamp collapse combine compact consolidate curate cut dedupe declutter',
      'denormalize deselect distribute elevate enforce enlarge equalize exempt fuse harden impose inline',
      'invert lower magnify maximize minimize mix modulate neutralize obfuscate offset offload partition',
      'paste preempt propagate rebalance reclassify rectify reinstate remediate remix replenish replicate',
      'reprice reshape reshuffle restock restrict retag retarget retract reverse revive secure separate',
      'sharpen shift shrink shuffle silence simplify slice slide smooth splice stamp stitch stretch',
      'strengthen suppress synchronize synchronise tighten transcode transpose unify whitelist allowlist',
      'denylist blocklist withhold supersede integrate impersonate expose optimize optimise enrich',
    ],
    otherLanguages: [
      'benennt ändere setze wijzig bewerk überschreibt remplace remplacer reemplaza reemplazar substitui',
      'ersetzt ersetzen renomme umbenennen verschiebt verschieben déplace mover désactive aktiviert',
      'deaktiviert actualizar actualiza atualizar atualiza modificar modifica editar edita cambiar cambia',
      'alterar modifier modifie changer éditer aggiornare aggiorna modificare ändern aendern ändert',
      'aktualisieren aktualisiert bearbeiten bearbeitet setzen setzt wijzigen wijzigt bijwerken asigna',
      'asignar marca marcar renombra mueve activa desactiva habilita deshabilita configura configurar',
      'ajusta renomeia ativa desativa assigne konfiguriert weist markiert sposta rinomina attiva disattiva',
      'imposta verplaatst',
    ],
  },
  send: {
    act: 'sending something',
    category: 'Write',
    english: [
      'send post reply comment respond notify broadcast publish submit email message forward tweet announce',
      'react vote request invite share upload contest deliver push commit propose emit remind escalate',
      'contact produce enqueue cast upvote downvote repost retweet transmit relay warn inform endorse',
      'advertise apologize solicit give rate',
    ],
    otherLanguages: [
      'répond responder antwortet partage compartir teilt téléverse subir enviar envía envia publicar',
      'publica envoyer envoie publier publie inviare invia senden sendet verschicken veröffentlichen',
      'versturen verstuurt responde comenta comparte sube notifica reenvía compartilha notifie',
      'benachrichtigt condivide pubblica risponde stuurt verzendt deelt',
    ],
  },
  link: {
    act: 'linking or granting',
    category: 'Write',
    english: [
      'link unlink attach detach associate disassociate tag untag label unlabel star unstar pin unpin',
      'follow unfollow like unlike subscribe unsubscribe join leave bookmark bind unbind assign unassign',
      'mark unmark favorite unfavorite connect disconnect map grant authorize allow deny authenticate login',
      'logout pair mount unmount reconnect affiliate relate exchange',
    ],
  },
  settle: {
    act: 'settling a state',
    category: 'Write',
    english: [
      'archive unarchive close reopen complete uncomplete resolve approve reject accept decline dismiss',
      'unresolve finish finalize confirm trash untrash restore undelete unpublish schedule reschedule',
      'snooze abandon acknowledge ack claim capture handoff mark end cancel undo redo revert retire',
      'withdraw conclude defer postpone refuse veto graduate reconcile shelve expedite uphold',
    ],
  },
  keep: {
    act: 'keeping a copy',
    category: 'Write',
    english: [
      'export backup save download copy clone store remember record import cache stash checkout pull pack',
      'archive snapshot persist memorize collect ingest index log track load bundle compress zip preserve',
      'salvage collate accumulate unzip learn',
    ],
    otherLanguages: [
      'kopiert kopieren copia copiar copie importe importer importar importiert enregistre sichert exportar',
      'exporta guardar guarda salvar descargar exporter enregistrer sauvegarder esportare salvare speichern',
      'speichert exportieren exportiert opslaan descarga baixa importa télécharge télécharger scarica salva',
      'kopieert importeert exporteert downloadt',
    ],
  },
  run: {
    act: 'running something',
    category: 'Execute',
    english: [
      'run exec execute eval invoke call trigger launch spawn dispatch orchestrate delegate retry rerun',
      'replay automate prompt chat script shell process train instruct command operate debug simulate test',
      'evaluate perform kickoff infer fire step continue relaunch respawn conduct commence finetune inject',
      'repeat',
    ],
    otherLanguages: [
      'startet stoppe neustarten ejecute démarre démarrer arrête arrêter redémarre inicia iniciar detener',
      'detiene reinicia stoppt stoppen stößt lanza déclenche löst avvia ferma ejecutar ejecuta executar',
      'executa exécuter exécute executer lancer lance eseguire esegui ausführen ausfuehren führt starten',
      'uitvoeren voert arranca dispara despliega desplegar implanta déploie esegue riavvia',
    ],
  },
  power: {
    act: 'starting or stopping',
    category: 'Execute',
    english: [
      'start stop restart reboot resume pause boot shutdown halt abort cancel suspend wake unpause stopall',
      'startup poweron poweroff power interrupt signal quit exit cordon uncordon drain activate deactivate',
      'turn seal unseal recycle unload hibernate arm disarm dock undock park ignite extinguish accelerate',
      'decelerate brake thaw',
    ],
  },
  deploy: {
    act: 'deploying or building',
    category: 'Execute',
    english: [
      'deploy redeploy build install compile migrate sync scale rollback release promote rebuild upgrade',
      'autoscale reload refresh warm package failover rollout redrive dockerize serve sideload reinstall',
    ],
  },
  drive: {
    act: 'driving a live page or device',
    category: 'Execute',
    english: [
      'click type navigate press scroll hover drag drop tap swipe goto go back forward fill focus hold',
      'keyboard mouse emulate handle interact zoom double select uncheck key resize close switch open touch',
      'pan gesture input play skip seek mute unmute honk dial ring lock unlock highlight scrub dim brighten',
      'steer rewind vibrate blink walk climb swim aim attack throw grab grip lift tilt spin equip dig',
      'resign extrude aspirate dispense shoot jump craft smelt dismount fly takeoff dance eat drink sleep',
      'fish hunt cook bake brew pour ride kneel crouch sneak sprint strafe dive hit strike smash swing toss',
      'chase fight defend slay tame feed teleport summon despawn pick jog heat cool vacuum mow wash squeeze',
      'weld solder drill enter kick',
    ],
  },
  destroy: {
    act: 'deleting',
    category: 'Destructive',
    english: [
      'delete destroy purge drop erase wipe truncate obliterate shred nuke teardown decommission',
      'deprovision rm del expunge annihilate deregister unregister rmdir undeploy eliminate demolish pop',
      'dequeue dispose scrap deallocate lpop rpop dismantle tear dissolve disband detonate confiscate seize',
    ],
    otherLanguages: [
      'leegmaken leegt vergeet remover remueve löschen supprimez vide vider vacía vaciar leert leeren',
      'révoque révoquer revoca revocar widerruft widerrufen borrar borra eliminar elimina excluir exclui',
      'apagar apaga deletar supprimer supprime effacer eliminare cancellare loeschen löscht entfernen',
      'entfernt verwijderen verwijdert wissen limpa revoga efface rimuove svuota wist cancella',
    ],
  },
  remove: {
    act: 'removing',
    category: 'Destructive',
    english: [
      'remove uninstall evict eject kick ban exclude prune strip release offboard oust disenroll disqualify',
    ],
  },
  clear: {
    act: 'clearing',
    category: 'Destructive',
    english: ['clear flush empty cleanup clean discard reset wipe forget expire zero void'],
  },
  revoke: {
    act: 'revoking or resetting',
    category: 'Destructive',
    english: [
      'revoke rotate reset regenerate invalidate blacklist deauthorize unauthorize rescind',
    ],
  },
  kill: {
    act: 'ending something that lives',
    category: 'Destructive',
    english: ['kill terminate'],
  },
  pay: {
    act: 'moving money',
    category: 'Financial',
    english: [
      'pay charge refund transfer withdraw payout bill settle tip donate reimburse fund deposit remit',
      'disburse repay borrow lend checkout award debit credit invoice renew refill topup cashout prepay',
      'overpay chargeback airdrop compensate finance subsidize spend gift reward zap wire penalize recharge',
    ],
    otherLanguages: [
      'rembourse überweise abhebt cobra cobrar pagar paga reembolsar reembolsa transferir payer paie',
      'rembourser virer pagare rimborsare bezahlen bezahlt zahlen zahlt überweisen überweist erstatten',
      'betalen betaalt abona transfiere transfere trasferisce rimborsa',
    ],
  },
  trade: {
    act: 'trading',
    category: 'Financial',
    english: [
      'buy sell purchase trade swap stake unstake bid redeem invest hedge liquidate short long order',
      'restake bridge supply book rent lease exercise subscribe hire wager undelegate deleverage burn',
      'acquire procure auction gamble snipe leverage vest underwrite foreclose sweep',
    ],
    otherLanguages: [
      'bucht buchen compra vende réserve comprar vender acheter achète vendre comprare vendere kaufen kauft',
      'verkaufen bestellen bestellt kopen verkopen acquista',
    ],
  },
  manage: {
    act: 'managing, by several actions',
    category: 'Write',
    english: [
      'manage control administer handle maintain work operate operations management manager',
    ],
  },
  generate: {
    act: 'generating',
    category: 'Write',
    english: ['generate produce synthesize'],
  },
} as const satisfies Readonly<Record<string, FamilyEntry>>

export type Family = keyof typeof FAMILIES

/** A verb of English in its base form. */
export type Verb = WordsOf<(typeof FAMILIES)[Family]['english'][number]>

/**
 * Words that are nouns as often as verbs: a verb at the head of a name or sentence, and nowhere
 * else (`log_event` logs, `get_log` and `log_list` do not).
 */
export const ALSO_NOUNS: readonly string[] = [
  'order trade swap transfer report log tag label comment backup message post list file share link',
  'record build release charge note email mail call star copy project schedule snapshot key prompt',
  'template index import export command script run check view query state test search update claim',
  'invoice credit fund bid contact request review plan score rate rank group map trace cache track',
  'profile audit input mouse keyboard power process store stage guide help research format chart debit',
  'stake deposit purchase payout refund checkout tip bridge short long double text dm fax chat pin like',
  'react vote branch fork commit merge push pull stash package bundle focus hold pan touch answer draft',
  'place load match lists access return use new open work control back forward go type select set scope',
  'signal drop cascade trash object reason cancel clone filter follow bookmark favorite benchmark',
  'forecast estimate change move count diff screenshot preview deploy install stop start end exit quit',
  'handle book play lock block print ring seal turn produce exercise rent lease reads perform flag mask',
  'skip supply tweet click fire grade patch sample quote cite style color paint raise spin attack throw',
  'lift step pop dig relay bump pad probe glance monitor watch scan crawl poll display outline plot',
  'dump download measure surface tail capture draw highlight debug jump craft fly wager airdrop',
  'duplicate auction wire gift reward leverage fish hunt park sleep dance drink cook hit strike kick',
  'cut mix shift slice slide stamp paste sweep spend brake drill dock arm zap ride heat feed swing vest',
  'leave mint',
]
