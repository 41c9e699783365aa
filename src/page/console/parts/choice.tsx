/** A drop-down list. Its accessible name is `label`, or the label element for `id`. */
export function Choice<K extends string>({
  id,
  label,
  options,
  value,
  textOf,
  onChange,
}: {
  readonly id?: string;
  readonly label?: string;
  readonly options: readonly K[];
  readonly value: string;
  textOf(option: K): string;
  onChange(value: string): void;
}) {
  return (
    <select
      id={id}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option} value={option}>
          {textOf(option)}
        </option>
      ))}
    </select>
  );
}
