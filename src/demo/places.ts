/** The countries and cities of the demo's visitors. */
import { addRankedWeights, createChooser, type Weighted } from './weighted.js'

export interface Place extends Weighted {
  readonly country: string
  readonly city: string
  /** Hours that local time is ahead of UTC. */
  readonly offset: number
}

type Row = readonly [country: string, weight: number, offset: number, cities: string]

/** The cities of a country are in the order of their visitors, most first; an empty name stands for unknown cities. */
const COUNTRIES: readonly Row[] = [
  ['US', 30, -6, 'New York,Los Angeles,Chicago,,Seattle,Austin,Denver,Portland,Boston'],
  ['DE', 14, 1, 'Berlin,München,Hamburg,Köln,,Leipzig,Stuttgart'],
  ['GB', 11, 0, 'London,Manchester,,Edinburgh,Bristol,Leeds'],
  ['FR', 7, 1, 'Paris,Lyon,,Marseille,Toulouse'],
  ['CA', 6, -5, 'Toronto,Vancouver,Montréal,,Calgary'],
  ['NL', 4, 1, 'Amsterdam,Rotterdam,Utrecht,'],
  ['AU', 4, 10, 'Sydney,Melbourne,Brisbane,'],
  ['IN', 4, 5, 'Bengaluru,Mumbai,Delhi,,Pune'],
  ['CH', 3, 1, 'Zürich,Genève,Bern,'],
  ['AT', 3, 1, 'Wien,Graz,Innsbruck,'],
  ['SE', 2.5, 1, 'Stockholm,Göteborg,'],
  ['ES', 2.5, 1, 'Madrid,Barcelona,,Valencia'],
  ['BR', 2.5, -3, 'São Paulo,Rio de Janeiro,'],
  ['JP', 2, 9, 'Tokyo,Osaka,'],
  ['IT', 2, 1, 'Milano,Roma,,Torino'],
  ['PL', 1.5, 1, 'Warszawa,Kraków,'],
  ['NO', 1.2, 1, 'Oslo,Bergen'],
  ['DK', 1.2, 1, 'København,Aarhus'],
  ['NZ', 0.8, 12, 'Auckland,Wellington'],
  ['MX', 0.8, -6, 'Ciudad de México,Guadalajara'],
  ['IE', 0.7, 0, 'Dublin'],
  ['ZA', 0.6, 2, 'Cape Town,Johannesburg'],
  ['SG', 0.5, 8, 'Singapore'],
  ['IS', 0.2, 0, 'Reykjavík'],
]

const PLACES: readonly Place[] = COUNTRIES.flatMap(([country, weight, offset, names]) => {
  const cities = addRankedWeights(
    names.split(',').map((city) => ({ country, city, offset })),
    1,
  )
  const total = cities.reduce((sum, city) => sum + city.weight, 0)
  return cities.map((city) => ({ ...city, weight: (weight * city.weight) / total }))
})

export const choosePlace = createChooser(PLACES)
