/*! Tallyhouse, with web-vitals of Google: both Apache-2.0 */
/** The script that the tracking script loads for `data-vitals`, also with `data-engagement` beside it. */
import { createEngagementMeter } from './engagement.js'
import { findState, measurePageviews } from './pageleave.js'
import { createVitalsMeter } from './vitals.js'

const state = findState()
if (state?.on) {
  const engagement = 'engagement' in state.on ? [createEngagementMeter()] : []
  measurePageviews(state, [createVitalsMeter(), ...engagement], () => Date.now())
}
