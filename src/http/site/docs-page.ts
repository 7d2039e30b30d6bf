/** The pages of the published contracts: their markup, their start-up script and their looks. */

/** A page to read a contract, and try it. */
export interface Page {
  readonly path: string
  readonly title: string
  /** Where the contract is, without `.json` and `.yaml`. */
  readonly contract: string
}

export const PAGES = {
  openapi: { path: '/docs', title: 'Ask', contract: '/openapi' },
  collector: { path: '/docs/collector', title: 'Send events', contract: '/collector' },
} as const satisfies Readonly<Record<string, Page>>

/** A page loads nothing from elsewhere and runs no inline script, so that its policy can be strict. */
export const pageOf = ({ path, contract }: Page): string => `<!doctype html>
<html lang="en" data-contract="${contract}.json">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tallyhouse</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
    <nav>${linksFrom(path)}</nav>
    <div id="page"></div>
    <noscript>The contract as text: <a href="${contract}.yaml">${contract}.yaml</a></noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>
`

const linksFrom = (path: string): string =>
  Object.values(PAGES)
    .map((page) => {
      const current = page.path === path ? ' aria-current="page"' : ''
      return `<a href="${page.path}"${current}>${page.title}</a>`
    })
    .join('')

export const SCRIPT = `SwaggerUIBundle({
  url: document.documentElement.dataset.contract,
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 1,
  displayRequestDuration: true,
  persistAuthorization: false,
  syntaxHighlight: { theme: 'idea' },
  validatorUrl: null,
})
`

export const STYLE = `body { margin: 0; background: #fff; }
nav { max-width: 1080px; margin: 0 auto; padding: 16px 20px 0; font: 600 15px sans-serif; }
nav a { margin-right: 20px; color: #52525b; text-decoration: none; }
nav a[aria-current] { color: #18181b; text-decoration: underline; text-underline-offset: 4px; }
.swagger-ui .wrapper { max-width: 1080px; }
.swagger-ui .info { margin: 32px 0; }
.swagger-ui .info .title { font-size: 32px; }
.swagger-ui .info p, .swagger-ui .info li { font-size: 15px; line-height: 1.6; max-width: 80ch; }
.swagger-ui .info h2 { margin: 1.6em 0 0.4em; }
.swagger-ui .markdown p, .swagger-ui .renderedMarkdown p { margin: 0.8em 0; }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code {
  padding: 1px 4px; color: #27272a; background: #f4f4f5; font-weight: 500;
}
.swagger-ui .markdown pre, .swagger-ui .renderedMarkdown pre { padding: 12px; background: #f4f4f5; }
.swagger-ui .scheme-container { padding: 12px 0; box-shadow: none; border-block: 1px solid #e4e4e7; }
.swagger-ui .renderedMarkdown table { width: auto; margin: 8px 0; }
.swagger-ui .renderedMarkdown th, .swagger-ui .renderedMarkdown tbody tr td {
  padding: 4px 16px 4px 0; min-width: 0; max-width: none; font-size: 13px;
  text-align: left; vertical-align: top;
}
`
