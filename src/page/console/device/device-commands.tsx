import { Commands } from '../form/command-form.tsx';
import { queryValue, setQuery } from '../parts/route.ts';
import { Data } from '../parts/table.tsx';
import { Sheet } from '../parts/words.tsx';
import { cleaned, cleanedJson } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';
import { Refusal, SingleResult } from './doctor.tsx';

export function DeviceCommands({
  device,
  lanes,
}: {
  readonly device: string;
  readonly lanes: readonly string[];
}) {
  const id = queryValue('job');
  return (
    <div class="sheets">
      <Sheet title={t('send_command')}>
        <Commands
          to={{ devices: [device] }}
          count={1}
          lanes={lanes}
          onSent={({ job }) => setQuery({ job: job.id })}
        />
      </Sheet>
      {id !== '' && (
        <Sheet title={t('answer')}>
          <SingleResult key={id} id={id}>
            {(result) =>
              result.state === 'ok' ? (
                <>
                  <p class="good">{t('outcome_ok')}</p>
                  {result.message !== null && <p>{cleaned(result.message)}</p>}
                  <Data label={t('answer')} text={cleanedJson(result.data ?? {})} />
                </>
              ) : (
                <Refusal result={result} />
              )
            }
          </SingleResult>
        </Sheet>
      )}
    </div>
  );
}
