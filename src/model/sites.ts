/** Patterns for texts that name a search engine or a social network, by its name or its host, in lower case. */

/** Builds a pattern for sources that name a site. It means the same in RE2 and in JavaScript. */
export const matchSite = (names: string): string => `^((www|m|lm?)[.])?(${names})$`

export const SOCIAL_SITE = matchSite(
  '(facebook|instagram|linkedin|pinterest|reddit|snapchat|telegram|threads|tiktok|twitter|whatsapp|youtube)([.]com)?|fb|ig|insta|x|x[.]com|t[.]co|threads[.]net|lnkd[.]in|youtu[.]be|vk|vk[.]com|weibo([.]com)?|mastodon|bluesky|bsky([.]app)?|hackernews|news[.]ycombinator[.]com|discord([.]com)?',
)

export const SEARCH_SITE = matchSite(
  '(google|yahoo|yandex|baidu|duckduckgo|bing|qwant|startpage|kagi)([.](com|[a-z]{2}|co[.][a-z]{2}))?|ecosia([.]org)?|search[.](brave|yahoo)[.]com|naver([.]com)?|seznam([.]cz)?',
)
