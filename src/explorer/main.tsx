/** Starts the page in the browser. The clock of the browser is read here alone. */
import { render } from 'preact'
import { formatCount } from './format/numbers.js'
import { App } from './view/app.js'

render(<App browser={window} now={() => new Date()} />, document.body)

// A browser takes tens of milliseconds for the first format of a page: it does so after the first paint, while the response is on
// its way.
requestAnimationFrame(() => setTimeout(() => formatCount(0)))
