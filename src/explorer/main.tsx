/** Starts the page in the browser. The clock of the browser is read here alone. */
import { render } from 'preact'
import { App } from './view/app.js'

render(<App browser={window} now={() => new Date()} />, document.body)
