import { useContext } from 'preact/hooks';
import { t } from '../texts/text.ts';
import { type FieldProps, Help } from './field.ts';
import { itemsOf, kindOf, numberOf, optionsOf, textOf } from './schema.ts';

/** A field whose maximum length (characters) is above this gets several lines. */
const LONG_TEXT = 256;

/** The control for one plain value, or for a list of plain values. */
export function Control(props: FieldProps & { readonly id: string; readonly label: string }) {
  const { schema, id, name, pointer, value, isRequired, onChange, label } = props;
  const { suggestions } = useContext(Help);
  const common = { id, 'aria-label': label, 'aria-describedby': `${pointer}-hint`, required: isRequired };
  const options = optionsOf(schema);
  switch (kindOf(schema)) {
    case 'choice':
      return (
        <select
          {...common}
          value={value === undefined ? '' : String(value)}
          onChange={({ currentTarget }) =>
            onChange(options.find((option) => String(option) === currentTarget.value))
          }
        >
          <option value="">{t('nothing_set')}</option>
          {options.map((option) => (
            <option key={String(option)} value={String(option)}>
              {String(option)}
            </option>
          ))}
        </select>
      );
    case 'truth':
      return (
        <select
          {...common}
          value={value === undefined ? '' : String(value)}
          onChange={({ currentTarget }) =>
            onChange({ true: true, false: false }[currentTarget.value as 'true' | 'false'])
          }
        >
          <option value="">{t('nothing_set')}</option>
          <option value="true">{t('yes')}</option>
          <option value="false">{t('no')}</option>
        </select>
      );
    case 'number':
      return (
        <input
          {...common}
          type="number"
          min={numberOf(schema, 'minimum')}
          max={numberOf(schema, 'maximum')}
          step={schema['type'] === 'integer' ? 1 : 'any'}
          value={typeof value === 'number' ? value : ''}
          onInput={({ currentTarget }) =>
            onChange(Number.isNaN(currentTarget.valueAsNumber) ? undefined : currentTarget.valueAsNumber)
          }
        />
      );
    case 'time':
      return (
        <input
          {...common}
          type="datetime-local"
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === '' ? undefined : new Date(currentTarget.value).toISOString())
          }
        />
      );
    case 'choices':
      return <Choices {...props} />;
    case 'texts':
      return (
        <input
          {...common}
          placeholder={t('several')}
          defaultValue={Array.isArray(value) ? value.join(', ') : ''}
          onInput={({ currentTarget }) => onChange(wordsOf(currentTarget.value))}
        />
      );
    default: {
      const list = suggestions[name];
      const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }): void =>
        onChange(currentTarget.value === '' ? undefined : currentTarget.value);
      const text = typeof value === 'string' ? value : '';
      if ((numberOf(schema, 'maxLength') ?? 0) > LONG_TEXT)
        return <textarea {...common} value={text} onInput={onInput} />;
      if (schema['writeOnly'] === true)
        return <input {...common} type="password" autocomplete="off" value={text} onInput={onInput} />;
      return (
        <>
          <input
            {...common}
            autocomplete="off"
            list={list && `${id}-list`}
            placeholder={textOf(schema, 'default')}
            value={text}
            onInput={onInput}
          />
          {list && (
            <datalist id={`${id}-list`}>
              {list.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      );
    }
  }
}

/** Splits a text at commas; undefined for an empty text (not set). */
function wordsOf(text: string): readonly string[] | undefined {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return words.length === 0 ? undefined : words;
}

function Choices({ schema, value, id, onChange }: FieldProps & { readonly id: string }) {
  const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
  const options = optionsOf(itemsOf(schema));
  return (
    <div class="row">
      {options.map((option) => (
        <div key={String(option)} class="field check">
          <input
            id={`${id}-${option}`}
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={({ currentTarget }) => {
              const next = options.filter((one) =>
                one === option ? currentTarget.checked : chosen.includes(one),
              );
              onChange(next.length === 0 ? undefined : next);
            }}
          />
          <label for={`${id}-${option}`}>{String(option)}</label>
        </div>
      ))}
    </div>
  );
}
