// The commonest verbs of tools in other languages: as words where the script has spaces, as patterns
// where it has none. A definition may speak one of them while its name is English. Pure; called by
// lexicon and by read-text.

/** Spanish, Portuguese, French, Italian, German, Dutch: what an imperative, an infinitive or the third person is. */
export const OTHER_VERBS = {
  look: `devuelve devolver devolve retorna verifica verificar renvoie retourne vérifie calcule calcula calcular rechnet berechnet prüft durchsucht durchsuchen liefert gibt compara comparer vergleicht traduit obtener obtiene obter obtém obtem buscar busca listar consultar consulta mostrar muestra leer lee
    recuperar recupera encontrar ler rechercher recherche chercher lister liste afficher affiche récupérer
    récupère recuperer obtenir consulter lire trouver cercare cerca elencare elenca leggere mostra ottenere
    ottieni suchen sucht abrufen ruft holen holt anzeigen zeigt auflisten listet lesen liest finden findet
    zoeken zoekt ophalen toon toont lezen bekijken bekijk extrahiert vergleichen controleer controleert obtiene
    descubre exibe visualiza listagem pesquisa pesquisar
    comprobar comprueba analiza analizar valida validar extrae extraer traduce analisa extrai
    analyse valide extrait analysiert validiert übersetzt ottiene legge confronta calcola analizza
    estrae haalt leest vergelijkt`,
  make: `ajoutez registra registrar inscrit reserva crear crea criar cria agregar agrega añadir añade adicionar adiciona créer crée creer ajouter ajoute
    creare aggiungere aggiungi erstellen erstellt anlegen legt hinzufügen hinzufuegen fügt maken maakt
    toevoegen aanmaken
    genera gera cadastra génère generiert erzeugt generieren aggiunge voegt`,
  change: `benennt ändere setze wijzig bewerk überschreibt remplace remplacer reemplaza reemplazar substitui ersetzt ersetzen renomme umbenennen verschiebt verschieben déplace mover désactive aktiviert deaktiviert actualizar actualiza atualizar atualiza modificar modifica editar edita cambiar cambia alterar
    modifier modifie changer éditer aggiornare aggiorna modificare ändern aendern ändert aktualisieren
    aktualisiert bearbeiten bearbeitet setzen setzt wijzigen wijzigt bijwerken
    asigna asignar marca marcar renombra mueve activa desactiva habilita deshabilita configura
    configurar ajusta renomeia ativa desativa assigne konfiguriert weist markiert sposta rinomina
    attiva disattiva imposta verplaatst`,
  send: `répond responder antwortet partage compartir teilt téléverse subir enviar envía envia publicar publica envoyer envoie publier publie inviare invia senden sendet
    verschicken veröffentlichen versturen verstuurt
    responde comenta comparte sube notifica reenvía compartilha notifie benachrichtigt condivide
    pubblica risponde stuurt verzendt deelt`,
  keep: `kopiert kopieren copia copiar copie importe importer importar importiert enregistre sichert exportar exporta guardar guarda salvar descargar exporter enregistrer sauvegarder esportare salvare
    speichern speichert exportieren exportiert opslaan
    descarga baixa importa télécharge télécharger scarica salva kopieert importeert exporteert
    downloadt`,
  run: `startet stoppe neustarten ejecute démarre démarrer arrête arrêter redémarre inicia iniciar detener detiene reinicia stoppt stoppen stößt lanza déclenche löst avvia ferma ejecutar ejecuta executar executa exécuter exécute executer lancer lance eseguire esegui ausführen
    ausfuehren führt starten startet uitvoeren voert
    arranca dispara despliega desplegar implanta déploie esegue riavvia`,
  destroy: `leegmaken leegt vergeet remover remueve löschen supprimez vide vider vacía vaciar leert leeren révoque révoquer revoca revocar widerruft widerrufen borrar borra eliminar elimina excluir exclui apagar apaga deletar supprimer supprime effacer
    eliminare cancellare löschen loeschen löscht entfernen entfernt verwijderen verwijdert wissen
    limpa revoga efface rimuove svuota wist cancella`,
  pay: `rembourse überweise abhebt cobra cobrar pagar paga reembolsar reembolsa transferir payer paie rembourser virer pagare rimborsare bezahlen
    bezahlt zahlen zahlt überweisen überweist erstatten betalen betaalt
    abona transfiere transfere trasferisce rimborsa`,
  trade: `bucht buchen compra vende réserve comprar vender acheter achète vendre comprare vendere kaufen kauft verkaufen bestellen bestellt
    kopen verkopen
    acquista`,
} as const

/** Chinese, Japanese, Korean, Russian: parts of words that say the act. */
export const OTHER_SCRIPTS = {
  destroy:
    /删除|刪除|移除|清空|清除|销毁|注销|削除|消去|삭제|제거|クリア|удал|очист|清理|卸载|卸載|释放|吊销|破棄|취소|해제|стере/gu,
  pay: /支付|付款|退款|转账|轉帳|下单|下單|购买|購買|充值|提现|交易|買入|卖出|決済|支払|購入|注文|返金|送金|결제|구매|주문|환불|송금|оплат|купи|заказать|перевести средства|收款|缴费|续费|汇款|撤单|平仓|开仓|赎回|質押|质押|продать|вернуть деньги/gu,
  run: /执行(?!中)|執行(?!中)|运行|啟動|启动|停止|重启|部署|点击|実行(?!中)|中断|触发|起動|再起動|クリック|실행|시작|중지|배포|запус|выполн|останов|暂停|暫停|重啟|调用|呼叫|拨打|播放|回滚|扩容|缩容|滑动|滚动|拖拽|再生|呼び出|デプロイ|トリガー|一時停止|재시작|일시정지|재생|호출|перезапу|вызва/gu,
  make: /创建|創建|建立|新建|添加|新增|生成|注册|预约|预订|作成|追加|登録|생성|추가|등록|созда|добав|复制|克隆|提交|複製|복사|копир/gu,
  change:
    /修改|更新|设置|設置|編輯|编辑|重命名|移动|変更|編集|設定|수정|변경|업데이트|설정|обнов|измен|редакт|зада[её]т|задать|устан[ао]в|перезапис|назнач|переключ|включает|отключ|замен|привяз|отмен|更换|替换|調整|调整|标记|归档|禁用|启用|关闭|审批|批准|拒绝|取消|分配|指派|绑定|合并|收藏|点赞|关注|リセット|既読|有効化|無効化|承認|却下|割り当て|アーカイブ|승인|이동|перемест|переимен/gu,
  send: /发送|發送|发布|發布|回复|上传|通知|送信|投稿|返信|アップロード|전송|보내|게시|업로드|отправ|опублик|发表|评论|转发|分享|推送|邀请|共有|招待|公開|공유|초대|ответ/gu,
  keep: /导出|导入|保存|下载到|備份|备份|エクスポート|ダウンロード|내보내|저장|экспорт|сохран|下载|录制|バックアップ|書き出|다운로드|скача/gu,
  look: /历史|记录|明细|余额|指数|履歴|残高|查询|查詢|获取|獲取|搜索|搜尋|检索|查看|列出|计算|规划|转换|定位|识别|分析|编码|解析|测量|返回|検索|取得|一覧|表示|確認|計算|검색|조회|목록|가져오|확인|получ|поиск|найти|список|показ|возвращ|верн[её]т|выводит|отобража|читает|ищет|считает|统计|对比|比较|检测|检查|验证|校验|预览|翻译|总结|读取|浏览|推荐|閲覧|参照|比較|検証|読み取|분석|비교|검증|읽기|провер|сравн|анализ|прочит/gu,
} as const

/** Where the verb ends the sentence (Japanese, Korean), and a letter of the scripts above. */
export const VERB_LAST = /[\u3041-\u30ff\uac00-\ud7af]/u
export const OTHER_LETTER = /[\u0400-\u04ff\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7af]/u
