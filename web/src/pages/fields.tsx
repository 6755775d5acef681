// A filter above a list; what it says is what the address says.

import { filter, filters } from "../address";

export function Choice(props: { name: string; label: string; options: Array<[value: string, text: string]> }) {
  return (
    <label>
      {props.label}
      <select
        name={props.name}
        value={filters.value.get(props.name) ?? ""}
        onChange={(event) => filter({ [props.name]: event.currentTarget.value })}
      >
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Text(props: { name: string; label: string; placeholder?: string; list?: string }) {
  return (
    <label>
      {props.label}
      <input
        name={props.name}
        value={filters.value.get(props.name) ?? ""}
        placeholder={props.placeholder ?? "any"}
        list={props.list}
        onChange={(event) => filter({ [props.name]: event.currentTarget.value.trim() })}
      />
    </label>
  );
}
