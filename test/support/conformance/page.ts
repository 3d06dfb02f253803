// SPDX-License-Identifier: Apache-2.0
/** docs/reference/conformance.md: its tables, from reports. */
import type { Case, Kind, CaseOutcome, CaseResult } from '#conformance/case.ts';
import { CR_CASES } from '#conformance/certificaterequest/cases.ts';
import { CSR_CASES } from '#conformance/csr/cases.ts';
import { CTB_CASES } from '#conformance/ctb/cases.ts';
import { PCR_CASES } from '#conformance/pcr/cases.ts';
import { SIGNERS, type ConformanceRun, type SignerName } from './cluster-signers.ts';

/** What one run came to, as much as the page says of it. */
export interface Column {
  readonly run: ConformanceRun;
  readonly results: readonly Pick<CaseResult, 'id' | 'outcome' | 'evidence'>[];
}

type Text = Pick<Case<never>, 'id' | 'level' | 'asserts' | 'source'>;

export const KIND_CASES: Readonly<Record<Kind, readonly Text[]>> = {
  csr: CSR_CASES,
  pcr: PCR_CASES,
  ctb: CTB_CASES,
  certificaterequest: CR_CASES,
};

const TITLES: Readonly<Record<Kind, string>> = {
  csr: 'CertificateSigningRequests (`--kind csr`)',
  pcr: 'PodCertificateRequests (`--kind pcr`)',
  ctb: 'ClusterTrustBundles (`--kind ctb`)',
  certificaterequest: 'CertificateRequests of cert-manager (`--kind certificaterequest`)',
};

const HEADS: Readonly<Record<SignerName, string>> = {
  countersign: 'Countersign',
  upstream: 'upstream’s signer',
  'kube-controller-manager': 'kube-controller-manager',
};

export const CELLS: Readonly<Record<CaseOutcome, string>> = {
  pass: 'pass',
  fail: '**fail**',
  skip: 'skip',
};

/** Another kind than this signer serves. */
const NOT_SERVED = '–';

export function renderPage(columns: readonly Column[]): string {
  const kinds = Object.keys(KIND_CASES) as readonly Kind[];
  return [HEAD, ...kinds.map((kind) => section(kind, columns)), failures(columns)].join('\n');
}

const HEAD = `# Conformance: what each signer passes and fails

<!-- Written by \`make conformance\`; test/conformance/page.test.ts and test/integration/conformance.test.ts hold it true. -->

\`countersign conformance\` holds any signer, in any language, on any cluster, to the API, the RFCs and
Kubernetes' own conformance tests: [how to check any signer](../how-to/check-any-signer.md). Here are three, on
Kubernetes 1.37.1:

- **Countersign**: \`example.com/people\` and \`example.com/workload\` of [deploy/examples](../../deploy/examples); for
  cert-manager \`ClusterSigner.countersign.dev/workload\`, with a rule that allows the names that the runner requests;
- **upstream's signer**: \`test/utils/hermeticpodcertificatesigner\`, which Kubernetes' end-to-end tests use. It is a
  test's tool and says so; what it fails is not a fault of Kubernetes;
- **kube-controller-manager**: its signer \`kubernetes.io/kube-apiserver-client\` and its publisher of
  \`kubernetes.io/kube-apiserver-serving\`.

A case that *should* hold is one that the API or an RFC advises, or that every careful signer does; the others
must hold. \`skip\`: there was nothing to judge, and the report says why. \`${NOT_SERVED}\`: the signer does not serve this
kind.
`;

function section(kind: Kind, columns: readonly Column[]): string {
  const of = (name: SignerName): Column | undefined =>
    columns.find(({ run }) => run.kind === kind && run.of === name);
  const rows = KIND_CASES[kind].map(({ id, level, asserts, source }) => {
    const cells = SIGNERS.map((name) => cell(of(name), id));
    return row([id, level === 'should' ? `${asserts} (should)` : asserts, source, ...cells]);
  });
  const heads = ['case', 'what it asserts', 'source', ...SIGNERS.map((name) => HEADS[name])];
  return [`## ${TITLES[kind]}`, '', row(heads), row(heads.map(() => '---')), ...rows, ''].join(
    '\n',
  );
}

function cell(column: Column | undefined, id: string): string {
  const found = column?.results.find((each) => each.id === id);
  return found === undefined ? NOT_SERVED : CELLS[found.outcome];
}

function failures(columns: readonly Column[]): string {
  const lines = columns.flatMap(({ run, results }) =>
    results
      .filter(({ outcome }) => outcome === 'fail')
      .map(({ id, evidence }) => `- **${HEADS[run.of]}**, ${id}: ${escaped(evidence)}`),
  );
  return [
    '## What was seen where a case failed',
    '',
    ...(lines.length === 0 ? ['Nothing failed.'] : lines),
    '',
  ].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(escaped).join(' | ')} |`;
}

function escaped(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}
