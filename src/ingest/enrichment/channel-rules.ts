/** The rules by which a visit is search, social, email, paid, llm, direct or unknown. */

export type ReferrerType = 'search' | 'social' | 'email' | 'paid' | 'llm' | 'direct' | 'unknown'

/** What is known of where a visit came from; texts are compared in lower case, without spaces around. */
export type ChannelText = 'kind' | 'utmMedium' | 'utmSource' | 'clickId'
export type ChannelFlag = 'hasReferrer' | 'isTagged'

export type ChannelCondition =
  | { readonly of: ChannelText; readonly is: readonly string[] }
  /** A regular expression that RE2 and JavaScript read alike; it matches anywhere. */
  | { readonly of: ChannelText; readonly matches: string }
  | { readonly of: ChannelFlag; readonly isNot: true }

export interface ChannelRule {
  readonly type: ReferrerType
  /** All must hold; without any the rule holds always. */
  readonly when: readonly ChannelCondition[]
}

/** The parameters by which ad networks mark a click on an ad. */
const AD_CLICK_IDS = [
  ...['gclid', 'gbraid', 'wbraid', 'dclid', 'msclkid', 'ttclid', 'twclid', 'li_fat_id', 'yclid'],
]
/** Facebook marks every link with it, paid or not. */
const FACEBOOK_CLICK_ID = 'fbclid'

/** All parameters of a URL that mark a click. */
export const CLICK_IDS: readonly string[] = [...AD_CLICK_IDS, FACEBOOK_CLICK_ID]

/** Words that stand alone or between signs: `cpc`, `google_cpc`, `paid-social`, `paidsearch`. */
const PAID_WORD =
  '(^|[^a-z])(cp[acmv]|ppc|paid[a-z]*|retargeting|remarketing|ads?|adwords)([^a-z]|$)'
const PAID_MEDIUM = `${PAID_WORD}|^(display|banner|expandable|interstitial|native|affiliates?|sponsored|promoted|sem)$`
const PAID_SOURCE = '(^|[^a-z])(ads?|adwords)$|^(google|bing|facebook|fb|meta|linkedin|tiktok)ads$'

const EMAIL = '^(e[-_ ]?mail(ing|s)?|mail(ing|s)?|newsletters?)$'

/** A site as a source: its name or its host. */
const site = (names: string): string => `^((www|m|lm?)[.])?(${names})$`

const LLM_SOURCE = site(
  'chatgpt([.]com)?|chat[.]openai[.]com|openai([.]com)?|perplexity([.]ai)?|claude([.]ai)?|gemini([.]google[.]com)?|copilot([.]microsoft[.]com)?|grok([.]com)?|deepseek|chat[.]deepseek[.]com|(le[-_ ]?chat|chat)[.]mistral[.]ai|mistral|meta[.]ai|duck[.]ai|you[.]com',
)
const LLM_MEDIUM = '^(llm|ai|ai[-_ ](assistant|chat|search)|chatbot)$'

const SOCIAL_MEDIUM = '^(sm|(organic[-_ ])?social([-_ ]?(networks?|media))?)$'
const SOCIAL_SOURCE = site(
  '(facebook|instagram|linkedin|pinterest|reddit|snapchat|telegram|threads|tiktok|twitter|whatsapp|youtube)([.]com)?|fb|ig|insta|x|x[.]com|t[.]co|threads[.]net|lnkd[.]in|youtu[.]be|vk|vk[.]com|weibo([.]com)?|mastodon|bluesky|bsky([.]app)?|hackernews|news[.]ycombinator[.]com|discord([.]com)?',
)

const SEARCH_MEDIUM = '^(organic([-_ ]search)?|seo|search)$'
const SEARCH_SOURCE = site(
  '(google|yahoo|yandex|baidu|duckduckgo|bing|qwant|startpage|kagi)([.](com|[a-z]{2}|co[.][a-z]{2}))?|ecosia([.]org)?|search[.](brave|yahoo)[.]com|naver([.]com)?|seznam([.]cz)?',
)

/**
 * The first rule that holds decides. What the sender says of the link (paid first, then by medium or source) goes
 * before what the referrer is; `organic` goes after the sources, as it is said of posts too.
 */
export const CHANNEL_RULES: readonly ChannelRule[] = [
  { type: 'paid', when: [{ of: 'utmMedium', matches: PAID_MEDIUM }] },
  { type: 'paid', when: [{ of: 'utmSource', matches: PAID_SOURCE }] },
  { type: 'paid', when: [{ of: 'clickId', is: AD_CLICK_IDS }] },
  { type: 'email', when: [{ of: 'utmMedium', matches: EMAIL }] },
  { type: 'email', when: [{ of: 'utmSource', matches: EMAIL }] },
  { type: 'llm', when: [{ of: 'utmMedium', matches: LLM_MEDIUM }] },
  { type: 'llm', when: [{ of: 'utmSource', matches: LLM_SOURCE }] },
  { type: 'social', when: [{ of: 'utmMedium', matches: SOCIAL_MEDIUM }] },
  { type: 'social', when: [{ of: 'utmSource', matches: SOCIAL_SOURCE }] },
  { type: 'search', when: [{ of: 'utmSource', matches: SEARCH_SOURCE }] },
  { type: 'search', when: [{ of: 'utmMedium', matches: SEARCH_MEDIUM }] },
  { type: 'email', when: [{ of: 'kind', is: ['email'] }] },
  { type: 'llm', when: [{ of: 'kind', is: ['llm'] }] },
  { type: 'social', when: [{ of: 'kind', is: ['social'] }] },
  { type: 'search', when: [{ of: 'kind', is: ['search'] }] },
  { type: 'social', when: [{ of: 'clickId', is: [FACEBOOK_CLICK_ID] }] },
  {
    type: 'direct',
    when: [
      { of: 'hasReferrer', isNot: true },
      { of: 'isTagged', isNot: true },
      { of: 'clickId', is: [''] },
      { of: 'utmSource', is: ['', 'direct', '(direct)'] },
      { of: 'utmMedium', is: ['', 'none', '(none)', '(not set)'] },
    ],
  },
  { type: 'unknown', when: [] },
]
