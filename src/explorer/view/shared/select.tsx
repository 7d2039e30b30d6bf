/** A choice of one of some names. */

export interface SelectProps<Value extends string> {
  /** What is chosen, for screen readers. */
  readonly label: string
  readonly name: string
  readonly options: readonly (readonly [value: Value, name: string])[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

export function Select<Value extends string>({
  label,
  name,
  options,
  value,
  onChange,
}: SelectProps<Value>) {
  return (
    <label>
      <span class="hidden">{label}</span>
      <select
        class="control"
        name={name}
        value={value}
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
