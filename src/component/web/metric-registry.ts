// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type {
  CounterSeries,
  GaugeSeries,
  HistogramSeries,
  Labels,
  TableSeries,
  Series,
  SeriesRecorder,
  SeriesTable,
} from '../metric.ts';

/** The metrics of one process. */
export interface Metrics extends SeriesRecorder {
  readonly registry: Registry;
  /** Runs `update` before each scrape, for gauges that are computed then. */
  readonly onScrape: (update: () => void) => void;
}

/**
 * The interval of the samples behind `nodejs_eventloop_lag_*`. At prom-client's own, 10 ms, the
 * samples are a third to a half of the CPU time that an idle component takes.
 */
const LAG_SAMPLE_MS = 100;

/**
 * Creates the metrics of one process.
 *
 * @param component - the label of all series
 * @param tables - series that are exposed before anything is counted
 */
export function createMetrics(
  component: string,
  version: string,
  tables: readonly SeriesTable[] = [],
): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ component });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  const updates: (() => void)[] = [];
  const info = new Gauge({
    name: 'countersign_build_info',
    help: 'Always 1; the label has the version that runs.',
    labelNames: ['version'],
    registers: [registry],
    // A registry collects in the order of creation, so all metrics below are read after this.
    collect: () => {
      for (const update of updates) update();
    },
  });
  info.set({ version }, 1);
  const { of, unserved } = createRecorder(registry);
  for (const table of tables) of(table);
  return {
    registry,
    onScrape: (update) => {
      updates.push(update);
    },
    of,
    unserved,
  };
}

/** Returns the recorder of a registry. It registers each series once. */
function createRecorder(registry: Registry): SeriesRecorder {
  const registered = new Map<Series, AnySeries>();
  const recorded = new Map<SeriesTable, unknown>();
  const ending: EndingGauge[] = [];
  const register = (series: Series): AnySeries => {
    const known = registered.get(series);
    if (known !== undefined) return known;
    const created = createSeries(series, registry);
    registered.set(series, created);
    if (created instanceof EndingGauge) ending.push(created);
    return created;
  };
  return {
    of: <Table extends SeriesTable>(table: Table) => {
      const found =
        recorded.get(table) ??
        Object.fromEntries(Object.entries(table).map(([key, each]) => [key, register(each)]));
      recorded.set(table, found);
      // `register` creates each series by its type.
      return found as TableSeries<Table>;
    },
    unserved: (signer) => {
      for (const each of ending) each.end(signer);
    },
  };
}

type AnySeries = CounterSeries | GaugeSeries | HistogramSeries;

function createSeries(series: Series, registry: Registry): AnySeries {
  const { type, name, help, labels, buckets = [], endsWithSigner, limited } = series;
  const common = { name, help, labelNames: labels, registers: [registry] };
  if (type === 'counter') {
    const counter = new Counter(common);
    return limited === undefined ? counter : limitedTo(limited, counter);
  }
  if (type === 'histogram') return new Histogram({ ...common, buckets: [...buckets] });
  const gauge = new Gauge(common);
  return endsWithSigner === true ? new EndingGauge(gauge) : gauge;
}

/** Counts labels that clients choose as `other` after so many. */
function limitedTo(
  { label, to }: NonNullable<Series['limited']>,
  counter: CounterSeries,
): CounterSeries {
  const named = new Set<string>();
  return {
    inc: (labels, by) => {
      const { [label]: value = '' } = labels;
      const isNamed = named.has(value) || named.size < to;
      if (isNamed) named.add(value);
      counter.inc(isNamed ? labels : { ...labels, [label]: 'other' }, by);
    },
  };
}

/** A gauge that removes the values of a signer. */
class EndingGauge implements GaugeSeries {
  readonly #gauge: Gauge;
  /** The labels of its values, by their text. */
  readonly #known = new Map<string, Labels<string>>();

  constructor(gauge: Gauge) {
    this.#gauge = gauge;
  }

  set(labels: Labels<string>, value: number): void {
    this.#known.set(textOf(labels), labels);
    this.#gauge.set(labels, value);
  }

  remove(labels: Labels<string>): void {
    this.#known.delete(textOf(labels));
    this.#gauge.remove(labels);
  }

  reset(): void {
    this.#known.clear();
    this.#gauge.reset();
  }

  end(signer: string): void {
    for (const labels of this.#known.values()) if (labels['signer'] === signer) this.remove(labels);
  }
}

function textOf(labels: Labels<string>): string {
  return JSON.stringify(Object.entries(labels).sort());
}
