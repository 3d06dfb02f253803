// SPDX-License-Identifier: Apache-2.0
import type { Machine } from '../measure/machine.ts';
import { figuresText, shown } from './figures.ts';
import { MARKS, type Bench } from './marks.ts';
import type { Chapter } from './read-results.ts';
import { boundText, verdictOf, type Verdict } from './verdict.ts';

/** The plot's name, beside the page. */
export const PLOT = 'performance.svg';

const TITLES: Readonly<Record<Bench, string>> = {
  drain: 'drain: a backlog of PodCertificateRequests',
  counters: 'counters: what a certificate takes in a drain, and warm',
  csr: 'csr: create, approve and sign CertificateSigningRequests',
  pinned: 'pinned: as with an API server on a machine of its own',
  latency: 'latency: from creation to certificate',
  memory: 'memory: of what is finished, and beside others’ requests',
  idle: 'idle: components with nothing to do',
  start: 'start: a full cluster and a new process',
  replicas: 'replicas: two beside each other, and one that dies',
  fairness: 'fairness: a quiet tenant beside a hostile one',
  'flow-control': 'flow-control: a controller that takes the API server’s seats',
  library: 'library: a program on the library beside our own',
  acme: 'acme: CertificateRequests answered by an ACME server',
  ledger: 'ledger: what recording costs, and a ledger of a million',
  services: 'services: names of Services, proven',
  injection: 'injection: what the policies cost a pod',
  check: 'check: `countersign check` on a large cluster',
  console: 'console: pages on a large cluster',
  issue: 'issue: leaves a second and core',
};

const HEAD = `<!-- Made by \`make performance\` from bench/results and bench/notes: change those. -->

# Performance

Ratios come from one run on one machine, all contenders in turns on the same cluster, and may be compared
with those of another machine. Figures may not: they are the machine's as much as ours. A ratio is the median of
the rounds' ratios, not the ratio of two medians: it cannot be worked out from the tables.

The marks are set on the sizes of \`make bench-all\`. What was run here stands above each table (\`Run with\`), and
the command with the full sizes below it: where the two differ the run was a short one, and says less.

![How far each ratio is from its mark](${PLOT})
`;

/** docs/reference/performance.md, before Prettier. */
export function performancePage(chapters: readonly Chapter[]): string {
  const verdicts = chapters.flatMap(verdictsOf);
  const parts = [HEAD, '## Marks', marksTable(verdicts), REPEAT];
  return [...parts, ...chapters.map(chapterText)].join('\n\n');
}

export function verdictsOf({ bench, measured }: Chapter): readonly Verdict[] {
  return MARKS.filter((mark) => mark.bench === bench).map((mark) => verdictOf(mark, measured));
}

const REPEAT = `## How to repeat it

\`\`\`
make bench-all                # hours; every bench below with its full sizes, on one cluster
make bench-short              # an hour; the same with small sizes
make bench                    # drain alone; the others are named beside their figures
make performance              # this page from what was measured
\`\`\`

No container engine and no cluster is needed: the control plane is the real one of
[CONTRIBUTING.md](../../CONTRIBUTING.md). Give it a machine of its own: what shares the cores is in the figures
(\`cores elsewhere\`), and a run that it disturbed is counted as disturbed.`;

function marksTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((verdict) => {
    const { mark, means, value, met } = verdict;
    const said = met === undefined ? 'not measured' : met ? 'met' : '**missed**';
    const cells = [`\`${mark.ratio}\``, means, shown(value), boundText(verdict), said];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| ratio | of what | measured | mark | |', '|---|---|--:|---|---|', ...rows].join('\n');
}

function chapterText({ bench, measured, notes }: Chapter): string {
  const command = bench === 'drain' ? 'make bench' : `make bench-${bench}`;
  const parts = [`## ${TITLES[bench]}`, `\`${command}\``];
  if (measured === undefined) return [...parts, 'Not measured yet.', notes].join('\n\n');
  const others = Object.entries(measured.ratios)
    .filter(([name, value]) => typeof value === 'number' && !hasMark(bench, name))
    .map(([name, value]) => `\`${name}\` ${shown(value)}`);
  return [
    ...parts,
    machineText(measured.machine),
    figuresText(measured.figures, 3),
    others.length === 0 ? '' : `Without a mark: ${others.join(', ')}.`,
    notes,
  ].join('\n\n');
}

function hasMark(bench: Bench, ratio: string): boolean {
  return MARKS.some((mark) => mark.bench === bench && mark.ratio === ratio);
}

function machineText({ cores, cpu, memoryGiB, node, kubernetes }: Machine): string {
  const software =
    kubernetes === undefined ? `Node ${node}` : `Kubernetes ${kubernetes}, Node ${node}`;
  return `${software}, ${cores} cores (${cpu}, ${memoryGiB} GiB).`;
}
