import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type DeviceHealth, HEALTH_SERIES, type HealthSeries } from '../../../protocol/console-device.ts';
import { devicePath } from '../client/api.ts';
import { Shown, useFetched } from '../parts/fetched.tsx';
import { language, locale, numberText, t } from '../texts/text.ts';

/** Health figures of the last 24 hours. */
export function Health({ device }: { readonly device: string }) {
  const health = useFetched<DeviceHealth>(`/api/devices/${devicePath(device)}/health`);
  return (
    <Shown of={health}>
      {(shown) => {
        const measured = HEALTH_SERIES.filter((name) => shown.series[name]?.some((value) => value !== null));
        return measured.length === 0 ? (
          <p class="sheet empty">{t('health_none')}</p>
        ) : (
          <div class="sheets">
            {measured.map((name) => (
              <Plot key={name} name={name} health={shown} />
            ))}
          </div>
        );
      }}
    </Shown>
  );
}

function Plot({ name, health }: { readonly name: HealthSeries; readonly health: DeviceHealth }) {
  const place = useRef<HTMLDivElement>(null);
  const isDark = useSignal(false);
  const values = health.series[name];
  const known = values.filter((value) => value !== null);
  const figures = {
    least: numberText(Math.min(...known), 1),
    most: numberText(Math.max(...known), 1),
    last: numberText(known.at(-1) ?? 0, 1),
  };
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = (): void => {
      isDark.value = query.matches;
    };
    onChange();
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const drawn = import('./plot.ts').then(({ drawPlot }) => drawPlot(box, health, values, locale()));
    return () => void drawn.then((remove) => remove());
  }, [health, isDark.value, language.value]);
  return (
    <section class="sheet column" aria-label={t(`health_${name}`)}>
      <h2>{t(`health_${name}`)}</h2>
      <p class="quiet">{t('health_figures', figures)}</p>
      <div ref={place} class="plot" aria-hidden="true" />
    </section>
  );
}
