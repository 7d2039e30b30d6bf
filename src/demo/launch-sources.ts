/** The traffic sources that a launch adds. */
import { LAUNCH_PAGE } from './pages.js'
import {
  buildMailQuery,
  buildSocialQuery,
  instagram,
  newsletter,
  paidInstagram,
  trailblog,
  youTube,
  type Source,
} from './sources.js'
import { createChooser, type Choose } from './weighted.js'

/** Where visits for a launch come from; all lead to its page. */
const listLaunchSources = (campaign: string): readonly Source[] =>
  [
    { weight: 34, ...newsletter, query: buildMailQuery(campaign), bounces: 0.3 },
    { weight: 20, ...paidInstagram, query: buildSocialQuery(campaign, 'reel'), bounces: 0.6 },
    { weight: 14, ...instagram, bounces: 0.58 },
    { weight: 12, ...youTube, bounces: 0.49 },
    { weight: 12, ...trailblog, bounces: 0.42 },
    { weight: 8, fields: {}, bounces: 0.4 },
  ].map((source) => ({ ...source, landing: LAUNCH_PAGE }))

/** Creates the chooser of the visits that a launch adds. */
export const createLaunchChooser = (campaign: string): Choose<Source> =>
  createChooser(listLaunchSources(campaign))
