/** The types of queries and of their rows: a row has what its query asks for. */
import type { components } from '../../../generated/openapi.js'

type Schemas = components['schemas']

/** The body of a query. */
export type QueryRequest = Schemas['AnalyticsQueryRequest']

/**
 * A row of the response to a query of the type `B`: the metrics and groups that it names. Those that only a variable names may be
 * missing. The rows of a `QueryRequest`, of which nothing is known, are those of the contract.
 */
export type Row<B = QueryRequest> = QueryRequest extends B
  ? Schemas['QueryRow']
  : B extends unknown
    ? { readonly group: Group<B> } & Measured<B>
    : never

/** The response to a query of the type `B`. */
export type QueryResponse<B = QueryRequest> = QueryRequest extends B
  ? Schemas['AnalyticsQueryResponse']
  : B extends unknown
    ? Pick<Schemas['AnalyticsQueryResponse'], 'period' | 'query' | 'pagination'> & {
        readonly data: readonly Row<B>[]
      } & IfAsked<B, 'include', { readonly totals: Measured<B> }> &
        IfAsked<B, 'compare', { readonly comparison: Schemas['Comparison'] }>
    : never

/** A row as a table has it, without levels: groups first, then metrics. */
export type FlatRow<B = QueryRequest> = QueryRequest extends B
  ? Readonly<Record<string, string | number | null>>
  : B extends unknown
    ? Flat<Group<B> & MetricsOf<B>> & IfAsked<B, 'compare', FlatComparison<B>>
    : never

/** The members that a query may not have: those of no query, and orders by what it does not ask for. */
export type Checked<B> = {
  readonly [K in keyof B]: K extends 'order_by'
    ? CheckedOrders<B, B[K]>
    : K extends keyof QueryRequest
      ? Exact<B[K], QueryRequest[K]>
      : never
}

type CheckedOrders<B, Orders> = QueryRequest['order_by'] extends Orders
  ? Orders
  : readonly (
      | readonly [OrderField<B>, Schemas['SortDirection']]
      | { readonly field: OrderField<B>; readonly direction: Schemas['SortDirection'] }
    )[]

/** What a query can be ordered by. */
type OrderField<B> =
  | NameOf<Metrics<B>[number]>
  | (B extends { readonly compare: unknown }
      ? `${'change' | 'difference'}:${NameOf<Metrics<B>[number]> & string}`
      : never)
  | Key<Groups<B>[number]>
  | Extract<Groups<B>[number], string>

/** `T` without members that `S` does not have, on any level. */
export type Exact<T, S> = [S] extends [T]
  ? T
  : T extends readonly unknown[]
    ? { readonly [I in keyof T]: Exact<T[I], ElementOf<S>> }
    : T extends object
      ? { readonly [K in keyof T]: K extends KeyOf<T, S> ? Exact<T[K], MemberOf<S, K>> : never }
      : T
type ElementOf<S> = S extends readonly (infer E)[] ? E : never
type KeyOf<T, S> = S extends unknown ? (T extends S ? keyof S : never) : never
type MemberOf<S, K> = S extends unknown ? (K extends keyof S ? S[K] : never) : never

type DefaultMetrics = readonly ['users', 'pageviews', 'events']

/** The list that a body has by a name, or the default where it has none. */
type ListOf<B, Name extends string, Default extends readonly unknown[]> = Name extends keyof B
  ? B[Name] extends infer List extends readonly unknown[]
    ? List extends readonly []
      ? Default
      : List
    : readonly (ElementOf<B[Name]> | Default[number])[]
  : Default
type Metrics<B> = ListOf<B, 'metrics', DefaultMetrics>
/** The name of a metric in the rows. */
type NameOf<M> = M extends { readonly as: infer Name extends string } ? Name : M
type Names<List extends readonly unknown[]> = { readonly [I in keyof List]: NameOf<List[I]> }
type Groups<B> = readonly [
  ...ListOf<B, 'group_by', readonly []>,
  ...ListOf<B, 'then_by', readonly []>,
]

/** The member of a group for a grouping. */
type Key<G> = G extends `interval:${string}`
  ? 'date'
  : G extends { readonly property: infer Name extends string }
    ? `event:prop:${Name}`
    : G
type Keys<List extends readonly unknown[]> = { readonly [I in keyof List]: Key<List[I]> }

type Group<B> = Named<Keys<Groups<B>>, Record<string, string>>
type MetricsOf<B> = Named<Names<Metrics<B>>, Schemas['MetricValues']>
type ComparedOf<B> = Named<Names<Metrics<B>>, Record<string, number | null>>
type Measured<B> = { readonly metrics: MetricsOf<B> } & IfAsked<
  B,
  'compare',
  { readonly comparison: { readonly metrics: ComparedOf<B>; readonly change: ComparedOf<B> } }
>
type FlatComparison<B> =
  ComparedOf<B> extends infer Values
    ? {
        readonly [
          K in keyof Values as `${'comparison' | 'comparison_change'}_${K & string}`
        ]: Values[K]
      }
    : never

/** What the response has if the query has a member; only perhaps, if that is not known. */
type IfAsked<B, Name extends string, T> = Name extends keyof B
  ? undefined extends B[Name]
    ? Partial<T>
    : B[Name] extends { readonly totals?: infer Totals }
      ? IfTrue<Totals, T>
      : T
  : unknown
type IfTrue<Flag, T> = Flag extends true ? T : Flag extends false ? unknown : Partial<T>

/** The values that a list names. Those of a union, and those of a list of unknown length, may be missing. */
type Named<List extends readonly unknown[], Values> = Flat<
  { readonly [K in Certain<List> & keyof Values]: Required<Values>[K] } & {
    readonly [K in Exclude<List[number], Certain<List>> & keyof Values]?: Values[K]
  }
>
type Certain<List extends readonly unknown[]> = number extends List['length']
  ? never
  : { [I in keyof List]: Single<List[I]> }[number]
/** `T` unless it is a union. */
type Single<T, U = T> = T extends unknown ? ([U] extends [T] ? T : never) : never
type Flat<T> = { readonly [K in keyof T]: T[K] }
