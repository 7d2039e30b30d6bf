/*! Tallyhouse, Apache-2.0 */
/** The script that the tracking script loads for `data-engagement` alone. */
import { createEngagementMeter } from './engagement.js'
import { findState, measurePageviews } from './pageleave.js'

const state = findState()
if (state?.on) measurePageviews(state, [createEngagementMeter()], () => Date.now())
