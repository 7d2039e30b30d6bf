/**
 * Referrers that the generated list lacks or classifies differently, in the same form: each line is a name, a colon
 * and patterns. The host of an `android-app://` referrer is the name of an Android package.
 */
export const OWN_REFERRERS = {
  email: `
AOL Mail: mail.aol.com
Fastmail: app.fastmail.com
Gmail: mail.google.com com.google.android.gm
GMX: deref-gmx.com deref-gmx.net navigator.gmx.com navigator.gmx.net
iCloud Mail: icloud.com/mail
Mail.ru: e.mail.ru light.mail.ru touch.mail.ru ru.mail.mailapp
NetEase Mail: mail.126.com mail.163.com
Orange Mail: messagerie.orange.fr webmail.orange.fr
Outlook: outlook.com outlook.live.com outlook.office.com outlook.office365.com outlook.cloud.microsoft mail.live.com com.microsoft.office.outlook
Proton Mail: account.proton.me/mail mail.proton.me mail.protonmail.com ch.protonmail.android
QQ Mail: mail.qq.com
Seznam Email: email.seznam.cz
Web.de Mail: deref-web.de deref-web-02.de navigator.web.de
Yahoo! Mail: mail.yahoo.com mail.yahoo.co.jp com.yahoo.mobile.client.android.mail
Yandex Mail: mail.yandex.{}
Zoho Mail: mail.zoho.com mail.zoho.eu mail.zoho.in
`,
  llm: `
ChatGPT: com.openai.chatgpt
Claude: com.anthropic.claude
Copilot: copilot.cloud.microsoft m365.cloud.microsoft
Deepseek: deepseek.com
Gemini: com.google.android.apps.bard
Kimi: kimi.com
Le Chat: lechat.mistral.ai
Perplexity: ai.perplexity.app.android
Phind: phind.com
Poe: poe.com
Qwen: chat.qwenlm.ai qwen.ai
`,
  social: `
Facebook: m.me messenger.com com.facebook.katana com.facebook.lite com.facebook.orca
Instagram: ig.me com.instagram.android
LINE: line.me jp.naver.line.android
Medium: medium.com
Odnoklassniki: ok.ru
Pinterest: pin.it com.pinterest
Quora: quora.com
Slack: slack.com com.slack
Stack Exchange: stackexchange.com
Steam: steamcommunity.com
Telegram: t.me telegram.me telegram.org
Threads: com.instagram.barcelona
TikTok: com.zhiliaoapp.musically
Twitch: twitch.tv
Twitter: com.twitter.android
Vkontakte: com.vkontakte.android
WhatsApp: wa.me whatsapp.com com.whatsapp
YouTube: com.google.android.youtube
reddit: redd.it
`,
  search: `
Bing: com.microsoft.bing
DuckDuckGo: com.duckduckgo.mobile.android
Ecosia: com.ecosia.android
Yandex: com.yandex.browser ru.yandex.searchplugin
`,
  // Sites that merely have a search box, and a sign-in page: the list counts them as search engines and a network.
  '': `
cnn.com: cnn.com
login.live.com: login.live.com
msnbc.msn.com: msnbc.msn.com
nintendo.co.jp: cgi2.nintendo.co.jp
`,
} as const
