// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-console`: pages of `countersign console` in Chromium on a large cluster, for which a
 * stand-in answers. ARGS: `--signers 1000 --pods 150000 --requests 3000 --minutes 2 --visits 20`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import { chromium as launcher, type Page } from 'playwright-core';
import { stringify } from 'yaml';
import { BUNDLE } from '../cluster/start.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { percentile } from '../measure/percentile.ts';
import { memoryOf } from '../measure/process-memory.ts';
import { rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { startStandIn } from './stand-in.ts';

const sizes = readArguments({
  signers: { default: 1_000, least: 1 },
  pods: { default: 150_000, least: 0 },
  requests: { default: 3_000, least: 0 },
  minutes: { default: 2, least: 0 },
  visits: { default: 20, least: 1 },
});

const MIB = 2 ** 20;
const WHOLE_MS = 600_000;
const PAGES = {
  overview: 'overview',
  trust: 'trust',
  signer: 'trust?signer=bench-1',
  pods: 'trust?signer=bench-1&show=certificate',
  requests: 'requests',
  issued: 'issued?signer=example.com/bench-1',
  time: 'time',
} as const;

endOnSignals();
const loadBefore = loadavg()[0] ?? NaN;
const standIn = await startStandIn(sizes);
const directory = mkdtempSync(join(tmpdir(), 'console-bench-'));
const server = spawn(process.execPath, [BUNDLE, ...consoleArguments()], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await launcher.launch({
  executablePath: await chromium.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});
try {
  const [address] = (await Promise.race([
    once(createInterface({ input: server.stdout }), 'line'),
    once(server, 'exit').then(() => {
      throw new Error('the console ended at once');
    }),
  ])) as [string];
  const page = await browser.newPage({ locale: 'en-US' });
  page.setDefaultTimeout(WHOLE_MS);
  const first = await timed(() => page.goto(address));
  const base = page.url().replace(/\/overview$/, '');
  const whole = await timed(() => page.locator('.verdict').waitFor());
  console.log(
    `first page ${first} ms, whole after ${first + whole} ms, ${await residentMib()} MiB`,
  );
  const visits: Record<string, { readonly medianMs: number; readonly p95Ms: number }> = {};
  for (const [name, path] of Object.entries(PAGES)) {
    visits[`page_${name}`] = await visit(page, `${base}/${path}`);
    console.log(name, visits[`page_${name}`], `${await residentMib()} MiB`);
  }
  const interaction = await interactionMs(page, `${base}/requests`);
  const heap = await heapMib(page);
  const ratios = {
    console_first_page_ms: rounded(first),
    console_interaction_p95_ms: rounded(interaction),
    console_resident_mib: rounded(await residentMib()),
    console_tab_mib: rounded(heap.after),
  };
  const { signers, pods, requests, minutes, visits: times } = sizes;
  writeResults(sizes.results, 'console', {
    ratios,
    figures: {
      signers,
      pods,
      requests,
      minutes,
      visits: times,
      load: { before: rounded(loadBefore), after: rounded(loadavg()[0] ?? NaN) },
      first_page: { ms: rounded(first), wholeAfterMs: rounded(first + whole) },
      server: {
        residentMiB: rounded(await residentMib()),
        peakMiB: rounded((memoryOf(server.pid ?? 0)?.peak ?? NaN) / MIB),
      },
      tab: { heapMiB: rounded(heap.before), heapLaterMiB: rounded(heap.after) },
      ...visits,
    },
    machine: readMachine(),
  });
  console.log(ratios);
} finally {
  await browser.close();
  server.kill();
  standIn.stop();
  rmSync(directory, { recursive: true });
}

function consoleArguments(): readonly string[] {
  const file = join(directory, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    clusters: [
      { name: 'bench', cluster: { server: standIn.url, 'insecure-skip-tls-verify': true } },
    ],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
  };
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return ['console', '--no-open', '--kubeconfig', file];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function residentMib(): Promise<number> {
  // What a garbage collection frees returns to the system a little later.
  await sleep(1_000);
  return Math.round((memoryOf(server.pid ?? 0)?.resident ?? NaN) / MIB);
}

/** Opens an address again and again, as one follows links. */
async function visit(
  page: Page,
  address: string,
): Promise<{ readonly medianMs: number; readonly p95Ms: number }> {
  const times: number[] = [];
  for (let count = 0; count < sizes.visits; count += 1) {
    times.push(await timed(() => page.goto(address)));
  }
  return { medianMs: rounded(median(times)), p95Ms: rounded(percentile(times, 0.95)) };
}

/** The time from a key to the next painted frame, while the rows of the page change. */
async function interactionMs(page: Page, address: string): Promise<number> {
  await page.goto(address);
  await page.locator('#live', { hasText: 'live' }).waitFor();
  await page.evaluate(`
    window.durations = [];
    new PerformanceObserver((list) => {
      for (const each of list.getEntries()) window.durations.push(each.duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: true });`);
  await page.locator('input[name=signer]').focus();
  const keys = 200;
  for (let count = 0; count < keys; count += 1) {
    await page.keyboard.press(count % 10 === 9 ? 'Tab' : 'a');
    await sleep(30);
  }
  const slow = await page.evaluate<readonly number[]>('window.durations');
  // The API reports only events of 16 ms and more.
  const quick = Array.from({ length: Math.max(0, keys - slow.length) }, () => 16);
  return percentile([...slow, ...quick], 0.95);
}

/** The heap of the tab after a collection, before and after minutes of changes. */
async function heapMib(page: Page): Promise<{ readonly before: number; readonly after: number }> {
  const session = await page.context().newCDPSession(page);
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize / MIB;
  };
  const before = await heap();
  await sleep(sizes.minutes * 60_000);
  return { before, after: await heap() };
}
