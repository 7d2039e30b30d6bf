/** The countries, regions and cities of the demo's visitors, and the languages of their browsers. */
import { addRankedWeights, createChooser, type Choose, type Weighted } from './weighted.js'

export interface Place extends Weighted {
  readonly country: string
  /** As ISO 3166-2; empty if unknown. */
  readonly region: string
  readonly city: string
  /** Hours that local time is ahead of UTC. */
  readonly offset: number
  /** Chooses the language that the browser of a user prefers. */
  readonly chooseLanguage: Choose<Language>
}

interface Language extends Weighted {
  readonly language: string
}

type Row = readonly [
  country: string,
  weight: number,
  offset: number,
  languages: string,
  cities: string,
]

/**
 * Languages have weights in per cent. The cities of a country are in the order of their visitors, most first, each with its region
 * and, if it differs from the country's, its language; an empty name stands for unknown cities.
 */
const COUNTRIES: readonly Row[] = [
  [
    'US',
    30,
    -6,
    'en-US:91 es-US:6 zh-CN:3',
    'New York:NY,Los Angeles:CA,Chicago:IL,,Seattle:WA,Austin:TX,Denver:CO,Portland:OR,Boston:MA',
  ],
  [
    'DE',
    14,
    1,
    'de-DE:66 de:18 en-US:9 tr-TR:4 pl-PL:3',
    'Berlin:BE,München:BY,Hamburg:HH,Köln:NW,,Leipzig:SN,Stuttgart:BW',
  ],
  [
    'GB',
    11,
    0,
    'en-GB:88 en-US:9 pl-PL:3',
    'London:ENG,Manchester:ENG,,Edinburgh:SCT,Bristol:ENG,Leeds:ENG',
  ],
  ['FR', 7, 1, 'fr-FR:78 fr:14 en-US:8', 'Paris:IDF,Lyon:ARA,,Marseille:PAC,Toulouse:OCC'],
  [
    'CA',
    6,
    -5,
    'en-CA:64 en-US:26 fr-CA:10',
    'Toronto:ON,Vancouver:BC,Montréal:QC:fr-CA,,Calgary:AB',
  ],
  ['NL', 4, 1, 'nl-NL:74 nl:8 en-US:18', 'Amsterdam:NH,Rotterdam:ZH,Utrecht:UT,'],
  ['AU', 4, 10, 'en-AU:76 en-GB:14 en-US:10', 'Sydney:NSW,Melbourne:VIC,Brisbane:QLD,'],
  ['IN', 4, 5, 'en-IN:62 en-US:24 hi-IN:14', 'Bengaluru:KA,Mumbai:MH,Delhi:DL,,Pune:MH'],
  ['CH', 3, 1, 'de-CH:68 de-DE:20 en-US:12', 'Zürich:ZH,Genève:GE:fr-CH,Bern:BE,'],
  ['AT', 3, 1, 'de-AT:64 de-DE:28 en-US:8', 'Wien:9,Graz:6,Innsbruck:7,'],
  ['SE', 2.5, 1, 'sv-SE:80 en-US:20', 'Stockholm:AB,Göteborg:O,'],
  ['ES', 2.5, 1, 'es-ES:86 en-GB:14', 'Madrid:MD,Barcelona:CT:ca-ES,,Valencia:VC'],
  ['BR', 2.5, -3, 'pt-BR:95 en-US:5', 'São Paulo:SP,Rio de Janeiro:RJ,'],
  ['JP', 2, 9, 'ja-JP:70 ja:24 en-US:6', 'Tokyo:13,Osaka:27,'],
  ['IT', 2, 1, 'it-IT:90 en-US:10', 'Milano:25,Roma:62,,Torino:21'],
  ['PL', 1.5, 1, 'pl-PL:88 en-US:12', 'Warszawa:14,Kraków:12,'],
  ['NO', 1.2, 1, 'nb-NO:78 en-US:22', 'Oslo:03,Bergen:46'],
  ['DK', 1.2, 1, 'da-DK:80 en-US:20', 'København:84,Aarhus:82'],
  ['NZ', 0.8, 12, 'en-NZ:70 en-GB:30', 'Auckland:AUK,Wellington:WGN'],
  ['MX', 0.8, -6, 'es-MX:94 en-US:6', 'Ciudad de México:CMX,Guadalajara:JAL'],
  ['IE', 0.7, 0, 'en-IE:66 en-GB:34', 'Dublin:L'],
  ['ZA', 0.6, 2, 'en-ZA:100', 'Cape Town:WC,Johannesburg:GP'],
  ['SG', 0.5, 8, 'en-SG:60 zh-CN:40', 'Singapore'],
  ['IS', 0.2, 0, 'is-IS:82 en-US:18', 'Reykjavík:1'],
]

/** Creates the chooser of languages that are written as `de-DE:80 de:20`; the weight of a single one may be left out. */
const createLanguageChooser = (languages: string): Choose<Language> =>
  createChooser(
    languages.split(' ').map((text) => {
      const [language = '', weight = '1'] = text.split(':')
      return { language, weight: Number(weight) }
    }),
  )

const PLACES: readonly Place[] = COUNTRIES.flatMap(
  ([country, weight, offset, languages, names]) => {
    const chooseOfCountry = createLanguageChooser(languages)
    const cities = addRankedWeights(
      names.split(',').map((text) => {
        const [city = '', region, own] = text.split(':')
        const chooseLanguage = own === undefined ? chooseOfCountry : createLanguageChooser(own)
        return { city, region: region === undefined ? '' : `${country}-${region}`, chooseLanguage }
      }),
      1,
    )
    const total = cities.reduce((sum, city) => sum + city.weight, 0)
    return cities.map((city) => ({
      ...city,
      country,
      offset,
      weight: (weight * city.weight) / total,
    }))
  },
)

export const choosePlace = createChooser(PLACES)
