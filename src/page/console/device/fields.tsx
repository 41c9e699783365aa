import { Fragment, type JSX } from 'preact';
import { FIELDS, type FieldFormats, type Sheets } from '../../../protocol/console-device.ts';
import { Time, Words } from '../parts/words.tsx';
import { lastingText, numberText, type TextKey, t } from '../texts/text.ts';

type Shown = JSX.Element | null;

const FORMATS: { readonly [Format in keyof FieldFormats]: (value: FieldFormats[Format]) => Shown } = {
  text: (value) => <dd>{value === null ? t('none') : <Words text={value} />}</dd>,
  number: (value) => <dd>{value === null ? t('unknown') : numberText(value)}</dd>,
  time: (value) => (
    <dd>
      <Time at={value} />
    </dd>
  ),
  timeIfAny: (value) => (value === null ? null : FORMATS.time(value)),
  lossMs: (value) => (value > 0 ? <dd class="warn">{lastingText(value / 1000)}</dd> : null),
};

/** The entries of a sheet that `FIELDS` lists. */
export function Fields<Sheet extends keyof Sheets>({
  sheet,
  of,
}: {
  readonly sheet: Sheet;
  readonly of: Sheets[Sheet];
}) {
  const fields = Object.entries<{ readonly as: keyof FieldFormats }>(FIELDS[sheet]);
  return (
    <>
      {fields.map(([name, { as }]) => {
        // The type of FIELDS makes sure that the value fits its format.
        const shown = FORMATS[as](of[name as keyof Sheets[Sheet]] as never);
        return (
          shown && (
            <Fragment key={name}>
              <dt>{t(`${sheet}_${name}` as TextKey)}</dt>
              {shown}
            </Fragment>
          )
        );
      })}
    </>
  );
}
