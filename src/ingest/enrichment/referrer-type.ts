/** The rules that decide the referrer type of a visit. `referrer-sql.ts` translates them to SQL. */
import type { ReferrerType } from '../../contract/api.js'
import { matchSite, SEARCH_SITE, SOCIAL_SITE } from '../../model/sites.js'

/** The texts that rules compare, in lower case and without surrounding spaces. */
export type ChannelText = 'kind' | 'utmMedium' | 'utmSource' | 'clickId'
export type ChannelFlag = 'hasReferrer' | 'isTagged'

export type ChannelCondition =
  | { readonly of: ChannelText; readonly is: readonly string[] }
  /** A regular expression that means the same in RE2 and in JavaScript. It may match anywhere in the text. */
  | { readonly of: ChannelText; readonly matches: string }
  | { readonly of: ChannelFlag; readonly isNot: true }

interface ChannelRule {
  readonly type: ReferrerType
  /** All must hold. A rule without conditions always holds. */
  readonly when: readonly ChannelCondition[]
}

/** URL parameters that ad networks add to a click on an ad. */
const AD_CLICK_IDS = 'gclid gbraid wbraid dclid msclkid ttclid twclid li_fat_id yclid'.split(' ')
/** Facebook adds this parameter to every link, paid or not. */
const FACEBOOK_CLICK_ID = 'fbclid'

/** All URL parameters that mark a click. */
export const CLICK_IDS: readonly string[] = [...AD_CLICK_IDS, FACEBOOK_CLICK_ID]

/** Matches whole words only: `cpc`, `google_cpc`, `paid-social`, `paidsearch`. */
const PAID_WORD =
  '(^|[^a-z])(cp[acmv]|ppc|paid[a-z]*|retargeting|remarketing|ads?|adwords)([^a-z]|$)'
const PAID_MEDIUM = `${PAID_WORD}|^(display|banner|expandable|interstitial|native|affiliates?|sponsored|promoted|sem)$`
const PAID_SOURCE = '(^|[^a-z])(ads?|adwords)$|^(google|bing|facebook|fb|meta|linkedin|tiktok)ads$'

const EMAIL = '^(e[-_ ]?mail(ing|s)?|mail(ing|s)?|newsletters?)$'

const LLM_SOURCE = matchSite(
  'chatgpt([.]com)?|chat[.]openai[.]com|openai([.]com)?|perplexity([.]ai)?|claude([.]ai)?|gemini([.]google[.]com)?|copilot([.]microsoft[.]com)?|grok([.]com)?|deepseek|chat[.]deepseek[.]com|(le[-_ ]?chat|chat)[.]mistral[.]ai|mistral|meta[.]ai|duck[.]ai|you[.]com',
)
const LLM_MEDIUM = '^(llm|ai|ai[-_ ](assistant|chat|search)|chatbot)$'

const SOCIAL_MEDIUM = '^(sm|(organic[-_ ])?social([-_ ]?(networks?|media))?)$'

const SEARCH_MEDIUM = '^(organic([-_ ]search)?|seo|search)$'

/**
 * The first rule that holds decides. Tags of the link come before the kind of the referrer: first paid, then medium
 * and source. The medium `organic` comes after the sources, because posts on social networks are tagged with it too.
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
  { type: 'social', when: [{ of: 'utmSource', matches: SOCIAL_SITE }] },
  { type: 'search', when: [{ of: 'utmSource', matches: SEARCH_SITE }] },
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
