/** A choice of one of some names. */

export interface SelectProps<Value extends string> {
  /** What is chosen, for screen readers. */
  readonly label: string
  readonly name: string
  readonly options: readonly (readonly [value: Value, name: string])[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  /** Why nothing can be chosen; absent if it can. */
  readonly disabledBecause?: string | undefined
}

export function Select<Value extends string>({
  label,
  name,
  options,
  value,
  onChange,
  disabledBecause,
}: SelectProps<Value>) {
  return (
    <label>
      <span class="hidden">{label}</span>
      <select
        class="control"
        name={name}
        value={value}
        disabled={disabledBecause !== undefined}
        title={disabledBecause}
        onChange={({ currentTarget }) => {
          const [chosen] = options.find(([one]) => one === currentTarget.value) ?? []
          if (chosen !== undefined) onChange(chosen)
        }}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
