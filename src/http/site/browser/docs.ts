/** Starts Swagger UI on the pages of the API documentation. */

declare const SwaggerUIBundle: (options: object) => void

SwaggerUIBundle({
  url: document.documentElement.dataset['contract'],
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 1,
  displayRequestDuration: true,
  persistAuthorization: false,
  syntaxHighlight: { theme: 'idea' },
  validatorUrl: null,
})
