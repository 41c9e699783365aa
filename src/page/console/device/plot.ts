import uPlot from 'uplot';
import type { DeviceHealth } from '../../../protocol/console-device.ts';

const HEIGHT_PX = 150;

/** Draws one series in the page's colours, as wide as its box. @returns a function that removes the plot */
export function drawPlot(
  box: HTMLElement,
  { from, stepS }: DeviceHealth,
  values: readonly (number | null)[],
  locale: string,
): () => void {
  const style = getComputedStyle(box);
  const color = (name: string): string => resolved(box, style.getPropertyValue(name));
  const axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  const begin = new Date(from).getTime() / 1000;
  const format = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
  // A line of one or two values is barely visible: points are shown too.
  const isSparse = values.filter((value) => value !== null).length < 3;
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { y: false },
      axes: [
        { ...axis, size: 28, values: (_, times) => times.map((time) => format.format(time * 1000)) },
        { ...axis, size: 56 },
      ],
      series: [{}, { stroke: color('--accent'), width: 1.5, spanGaps: false, points: { show: isSparse } }],
    },
    [values.map((_, step) => begin + step * stepS), [...values]],
    box,
  );
  const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT_PX }));
  watch.observe(box);
  return () => {
    watch.disconnect();
    plot.destroy();
  };
}

/** A canvas does not support `light-dark()`: a style property resolves it. */
function resolved(box: HTMLElement, value: string): string {
  box.style.color = value;
  const color = getComputedStyle(box).color;
  box.style.color = '';
  return color;
}
