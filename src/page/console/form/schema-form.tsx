import { useContext } from 'preact/hooks';
import type { JsonSchema } from '../../../protocol/console-jobs.ts';
import { Marked } from '../parts/words.tsx';
import { t } from '../texts/text.ts';
import { Control } from './control.tsx';
import { type FieldProps, Help } from './field.ts';
import { blankOf, isObject, itemsOf, kindOf, propertiesOf, textOf, withoutNull } from './schema.ts';

/** The parts of an object, each as a field generated from its schema. */
export function Fields({
  schema,
  value,
  pointer = '',
  onChange,
}: Pick<FieldProps, 'schema' | 'value' | 'onChange'> & { readonly pointer?: string }) {
  const now = isObject(value) ? value : {};
  return (
    <>
      {propertiesOf(schema).map((part) => (
        <Field
          key={part.name}
          {...part}
          pointer={`${pointer}/${part.name}`}
          value={now[part.name]}
          onChange={(next) => onChange({ ...now, [part.name]: next })}
        />
      ))}
    </>
  );
}

function Field(props: FieldProps) {
  const { inner, isNullable } = withoutNull(props.schema);
  if (isNullable) return <NullableField {...props} inner={inner} />;
  const kind = kindOf(inner);
  if (kind === 'object') return <ObjectField {...props} schema={inner} />;
  if (kind === 'objects') return <ListField {...props} schema={inner} />;
  return <Labelled {...props} schema={inner} />;
}

/** A choice between not set, null and a value. */
function NullableField({ inner, ...props }: FieldProps & { readonly inner: JsonSchema }) {
  const { name, pointer, value, onChange, isRequired, schema } = props;
  const choice = value === undefined ? 'unset' : value === null ? 'null' : 'value';
  const described = textOf(inner, 'description') || textOf(schema, 'description');
  const isObjectLike = kindOf(inner) === 'object';
  return (
    <div class="field">
      <label for={pointer}>{name}</label>
      <select
        id={pointer}
        value={choice}
        aria-describedby={`${pointer}-hint`}
        onChange={({ currentTarget }) =>
          onChange(
            { unset: undefined, null: null, value: blankOf(inner) ?? '' }[
              currentTarget.value as 'unset' | 'null' | 'value'
            ],
          )
        }
      >
        {(!isRequired || choice === 'unset') && <option value="unset">{t('nothing_set')}</option>}
        <option value="null">{t('set_null')}</option>
        <option value="value">{t('set_value')}</option>
      </select>
      <Hint pointer={pointer} text={described} />
      {choice === 'value' &&
        (isObjectLike ? (
          <ObjectField {...props} schema={inner} />
        ) : (
          <Control {...props} schema={inner} id={`${pointer}-value`} label={name} />
        ))}
      <Faults pointer={pointer} />
    </div>
  );
}

function ObjectField({ schema, name, pointer, value, onChange }: FieldProps) {
  return (
    <fieldset>
      <legend>{name}</legend>
      <Fields schema={schema} pointer={pointer} value={value} onChange={onChange} />
      <Faults pointer={pointer} />
    </fieldset>
  );
}

function ListField({ schema, name, pointer, value, onChange }: FieldProps) {
  const { suggestions } = useContext(Help);
  const items = Array.isArray(value) ? value : [];
  const inner = itemsOf(schema);
  const add = (): void => {
    const taken = items.map((item) => (isObject(item) ? item['id'] : undefined));
    const id = suggestions['id']?.find((one) => !taken.includes(one));
    const hasId = propertiesOf(inner).some((part) => part.name === 'id');
    onChange([...items, { ...(blankOf(inner) as object), ...(hasId && id !== undefined && { id }) }]);
  };
  return (
    <fieldset>
      <legend>{name}</legend>
      <Hint pointer={pointer} text={textOf(schema, 'description')} />
      {items.map((item, at) => (
        <fieldset key={at}>
          <legend>{`${name} ${at + 1}`}</legend>
          <Fields
            schema={inner}
            pointer={`${pointer}/${at}`}
            value={item}
            onChange={(next) => onChange(items.with(at, next))}
          />
          <div class="row">
            <button type="button" onClick={() => onChange(items.toSpliced(at, 1))}>
              {t('remove_entry')} <span class="unseen">{`${name} ${at + 1}`}</span>
            </button>
          </div>
        </fieldset>
      ))}
      <div class="row">
        <button type="button" onClick={add}>
          {t('add_entry')} <span class="unseen">{name}</span>
        </button>
      </div>
      <Faults pointer={pointer} />
    </fieldset>
  );
}

function Labelled(props: FieldProps) {
  const { schema, name, pointer, isRequired } = props;
  const isGroup = kindOf(schema) === 'choices';
  const control = <Control {...props} id={pointer} label={name} />;
  const hint = <Hint pointer={pointer} text={textOf(schema, 'description')} />;
  if (isGroup) {
    return (
      <fieldset>
        <legend>{name}</legend>
        {hint}
        {control}
        <Faults pointer={pointer} />
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={pointer}>
        {name}
        {isRequired && ' *'}
      </label>
      {control}
      {hint}
      <Faults pointer={pointer} />
    </div>
  );
}

const Hint = ({ pointer, text }: { readonly pointer: string; readonly text: string }) =>
  text === '' ? null : (
    <p id={`${pointer}-hint`} class="hint">
      <Marked text={text} />
    </p>
  );

function Faults({ pointer }: { readonly pointer: string }) {
  const { faults } = useContext(Help);
  const own = faults.filter((fault) => fault.pointer === pointer || isInside(fault.pointer, pointer));
  return (
    <>
      {own.map(({ pointer: place, message }) => (
        <p key={place} class="fault" role="alert">
          {message}
        </p>
      ))}
    </>
  );
}

/** Whether `place` is an item of this list: items of plain values have no field of their own. */
const isInside = (place: string, pointer: string): boolean =>
  place.startsWith(`${pointer}/`) && /^\d+$/.test(place.slice(pointer.length + 1));
