// The commonest verbs of tools in languages of other scripts, as patterns. A definition may speak one of
// them while its name is English. Pure; called by the readers of texts.

import { alternatives } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'

/** Chinese, Japanese, Korean, Russian: parts of words that say the act. */
export const OTHER_SCRIPTS = {
  destroy:
    /删除|刪除|移除|清空|清除|销毁|注销|削除|消去|삭제|제거|クリア|удал|очист|清理|卸载|卸載|释放|吊销|破棄|취소|해제|стере/gu,
  pay: new RegExp(
    alternatives([
      ...toWords(`
        支付 付款 退款 转账 轉帳 下单 下單 购买 購買 充值 提现 交易 買入 卖出 決済 支払 購入
        注文 返金 送金 결제 구매 주문 환불 송금 оплат купи заказать
      `),
      /перевести средства/,
      ...toWords('收款 缴费 续费 汇款 撤单 平仓 开仓 赎回 質押 质押 продать'),
      /вернуть деньги/,
    ]),
    'gu',
  ),
  run: new RegExp(
    alternatives(
      toWords(`
        执行(?!中) 執行(?!中) 运行 啟動 启动 停止 重启 部署 点击 実行(?!中) 中断 触发 起動
        再起動 クリック 실행 시작 중지 배포 запус выполн останов 暂停 暫停 重啟 调用 呼叫 拨打
        播放 回滚 扩容 缩容 滑动 滚动 拖拽 再生 呼び出 デプロイ トリガー 一時停止 재시작
        일시정지 재생 호출 перезапу вызва
      `),
    ),
    'gu',
  ),
  make: /创建|創建|建立|新建|添加|新增|生成|注册|预约|预订|作成|追加|登録|생성|추가|등록|созда|добав|复制|克隆|提交|複製|복사|копир/gu,
  change: new RegExp(
    alternatives(
      toWords(`
        修改 更新 设置 設置 編輯 编辑 重命名 移动 変更 編集 設定 수정 변경 업데이트 설정 обнов
        измен редакт зада[её]т задать устан[ао]в перезапис назнач переключ включает отключ замен
        привяз отмен 更换 替换 調整 调整 标记 归档 禁用 启用 关闭 审批 批准 拒绝 取消 分配 指派
        绑定 合并 收藏 点赞 关注 リセット 既読 有効化 無効化 承認 却下 割り当て アーカイブ 승인
        이동 перемест переимен
      `),
    ),
    'gu',
  ),
  send: new RegExp(
    /发送|發送|发布|發布|回复|上传|通知|送信|投稿|返信|アップロード|전송|보내|게시|업로드|отправ|опублик|发表|评论|转发|分享|推送|邀请|共有|招待|公開|공유|초대|ответ/,
    'gu',
  ),
  keep: /导出|导入|保存|下载到|備份|备份|エクスポート|ダウンロード|내보내|저장|экспорт|сохран|下载|录制|バックアップ|書き出|다운로드|скача/gu,
  look: new RegExp(
    alternatives(
      toWords(`
        历史 记录 明细 余额 指数 履歴 残高 查询 查詢 获取 獲取 搜索 搜尋 检索 查看 列出 计算
        规划 转换 定位 识别 分析 编码 解析 测量 返回 検索 取得 一覧 表示 確認 計算 검색 조회
        목록 가져오 확인 получ поиск найти список показ возвращ верн[её]т выводит отобража
        читает ищет считает 统计 对比 比较 检测 检查 验证 校验 预览 翻译 总结 读取 浏览 推荐
        閲覧 参照 比較 検証 読み取 분석 비교 검증 읽기 провер сравн анализ прочит
      `),
    ),
    'gu',
  ),
} as const

/** Where the verb ends the sentence (Japanese, Korean), and a letter of the scripts above. */
export const VERB_LAST = /[\u3041-\u30ff\uac00-\ud7af]/u
export const OTHER_LETTER = /[\u0400-\u04ff\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7af]/u
