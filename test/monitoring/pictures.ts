// SPDX-License-Identifier: Apache-2.0
/**
 * Draws a dashboard as Grafana lays it out, from what Prometheus answers: one SVG, a panel for each
 * panel.
 */
import { init, use } from 'echarts/core';
import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';
import type { EChartsCoreOption } from 'echarts/core';
import { grafanaDashboard } from '#install/monitoring/dashboards.ts';
import type { Dashboard, Panel } from '#install/monitoring/panels.ts';
import type { Series } from './prometheus.ts';
import { formatted } from './units.ts';

use([BarChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** Of the grid of Grafana, which has 24 columns. Pixels. */
const COLUMN = 44;
const ROW = 32;
const GAP = 8;
const MARGIN = 16;
const FONT = 'font-family="sans-serif"';
const RED = '#c4162a';
const GREEN = '#37872d';

/** What Prometheus answered to the queries of a panel, with the legend of each series. */
export interface Shown {
  readonly legend: string;
  readonly points: Series['points'];
}

/** A row's heading, or a panel, where Grafana puts it. */
interface Placed {
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly h: number;
    readonly w: number;
    readonly x: number;
    readonly y: number;
  };
}

/**
 * @param shownOf - the series of a panel, asked for one after the other
 * @returns an SVG document
 */
export async function drawDashboard(
  dashboard: Dashboard,
  shownOf: (panel: Panel) => Promise<readonly Shown[]>,
): Promise<string> {
  const { panels: places } = grafanaDashboard(dashboard) as { readonly panels: readonly Placed[] };
  const panels = new Map(
    dashboard.rows.flatMap((row) => row.panels).map((each) => [each.title, each]),
  );
  const parts: string[] = [];
  for (const { type, title, gridPos } of places) {
    const at = { left: MARGIN + gridPos.x * COLUMN, top: MARGIN + 40 + gridPos.y * ROW };
    const [width, height] = [gridPos.w * COLUMN - GAP, gridPos.h * ROW - GAP];
    const panel = type === 'row' ? undefined : panels.get(title);
    const drawn =
      panel === undefined
        ? heading(title, 15, 18)
        : panelSvg(panel, await shownOf(panel), { width, height });
    parts.push(`<g transform="translate(${at.left},${at.top})">${drawn}</g>`);
  }
  const bottom = Math.max(...places.map(({ gridPos: { y, h } }) => y + h));
  const [width, height] = [2 * MARGIN + 24 * COLUMN, 2 * MARGIN + 40 + bottom * ROW];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="#f4f5f5"/>`,
    `<g transform="translate(${MARGIN},${MARGIN})">${heading(dashboard.title, 20, 22)}</g>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function panelSvg(panel: Panel, shown: readonly Shown[], size: Size): string {
  const frame = `<rect width="${size.width}" height="${size.height}" rx="3" fill="#fff" stroke="#d8d9da"/>`;
  const title = `<g transform="translate(8,4)">${heading(panel.title, 11, 15)}</g>`;
  if (shown.length === 0) {
    return `${frame}${title}<text x="8" y="${size.height / 2 + 12}" ${FONT} font-size="12" fill="#6e6e6e">no series</text>`;
  }
  return `${frame}${title}${panel.kind === 'stat' ? stat(panel, shown, size) : chart(panel, shown, size)}`;
}

/** The last value of each query, as Grafana's panel of kind `stat`. */
function stat({ unit, red }: Panel, shown: readonly Shown[], { height }: Size): string {
  const words = shown.slice(0, 3).map(({ points }) => {
    const value = points.at(-1)?.[1] ?? Number.NaN;
    return { text: formatted(value, unit), isRed: isRed(value, red) };
  });
  const each = words.map(
    ({ text, isRed: bad }) =>
      `<tspan fill="${bad ? RED : GREEN}">${escaped(text)}</tspan><tspan> </tspan>`,
  );
  return `<text x="8" y="${height - 20}" ${FONT} font-size="24">${each.join('')}</text>`;
}

function isRed(value: number, red: Panel['red']): boolean {
  if (red === undefined) return false;
  return typeof red === 'number' ? value >= red : value < red.below;
}

function chart(panel: Panel, shown: readonly Shown[], size: Size): string {
  const drawing = init(null, null, { renderer: 'svg', ssr: true, ...size });
  drawing.setOption(panel.kind === 'bargauge' ? bars(panel, shown) : lines(panel, shown));
  const svg = drawing.renderToSVGString();
  drawing.dispose();
  return svg;
}

function lines({ unit }: Panel, shown: readonly Shown[]): EChartsCoreOption {
  return {
    animation: false,
    backgroundColor: 'transparent',
    grid: { left: 70, right: 16, top: 30, bottom: 58 },
    legend: {
      bottom: 4,
      left: 8,
      itemHeight: 8,
      textStyle: { fontSize: 10 },
      type: 'scroll',
      width: '90%',
    },
    xAxis: { type: 'time', splitNumber: 4, axisLabel: { fontSize: 10, formatter: '{mm}:{ss}' } },
    yAxis: {
      type: 'value',
      splitNumber: 3,
      axisLabel: { fontSize: 10, formatter: (value: number) => formatted(value, unit) },
    },
    series: shown.map(({ legend, points }) => ({
      type: 'line',
      name: legend,
      showSymbol: points.length === 1,
      lineStyle: { width: 1.5 },
      data: points.map(([time, value]) => [time * 1000, Number.isFinite(value) ? value : null]),
    })),
  };
}

function bars({ unit, red }: Panel, shown: readonly Shown[]): EChartsCoreOption {
  const values = shown.map(({ points }) => points.at(-1)?.[1] ?? Number.NaN);
  return {
    animation: false,
    backgroundColor: 'transparent',
    grid: { left: 8, right: 90, top: 34, bottom: 8, containLabel: true },
    xAxis: { type: 'value', show: false, min: 0 },
    yAxis: { type: 'category', data: shown.map(({ legend }) => legend), inverse: true },
    series: [
      {
        type: 'bar',
        barMaxWidth: 14,
        label: {
          show: true,
          position: 'right',
          formatter: ({ value }: { readonly value: number }) => formatted(value, unit),
        },
        data: values.map((value) => ({
          value,
          itemStyle: { color: isRed(value, red) ? RED : GREEN },
        })),
      },
    ],
  };
}

function heading(text: string, size: number, baseline: number): string {
  return `<text y="${baseline}" ${FONT} font-size="${size}" font-weight="600" fill="#24292e">${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
