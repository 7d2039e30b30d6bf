/** Starts Swagger UI on the pages of the reference. */

declare const SwaggerUIBundle: (options: object) => void

// Swagger UI is dark if its root has this class.
const dark = matchMedia('(prefers-color-scheme: dark)')
const showColors = (): void => {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}
showColors()
dark.addEventListener('change', showColors)

const contract = document.documentElement.dataset['contract'] ?? ''

void fetch(contract)
  .then((response) => response.json())
  .then((spec: object) => {
    SwaggerUIBundle({
      // What is tried out is sent to this service: the page may not reach another.
      spec: { ...spec, servers: [{ url: '/' }] },
      dom_id: '#page',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 1,
      displayRequestDuration: true,
      persistAuthorization: false,
      syntaxHighlight: { theme: 'idea' },
      validatorUrl: null,
    })
  })
