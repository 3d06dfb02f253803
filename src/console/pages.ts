// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { messageOf } from '#base/errors.ts';
import { isCertManagerServed } from '#operations/cert-manager-served.ts';
import { unlessForbidden } from '#operations/holder-reads.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { explain } from '#diagnose/explain/explain.ts';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import { createLiveRequests, type LiveRequests } from './live-requests.ts';
import { ISSUED_A_PAGE, readCertificate, searchRows } from './pages/issued.ts';
import { overviewOf } from './pages/overview.ts';
import { requestPage, type RequestFilter } from './pages/requests.ts';
import { spanOf, timeModel } from './pages/time.ts';
import { trustList, trustOfSigner, type TrustChoice } from './pages/trust.ts';
import { restartsModel } from './pages/restarts.ts';
import type { RulesForm, RulesResults } from './pages/rules.ts';
import { readTargets } from './read-targets.ts';
import { createReadings, type ConsoleInit, type Readings } from './readings.ts';
import { judgeRules } from './rules-page.ts';
import type { PageName, View } from './views/address.ts';
import { el } from './views/element.ts';
import { faultOf, faultView } from './views/fault.ts';
import { certificateView, issuedView } from './views/issued.ts';
import { overviewView } from './views/overview.ts';
import { requestsView } from './views/requests.ts';
import { lacksOf } from './views/parts.ts';
import { restartsView } from './views/restarts.ts';
import { rulesView } from './views/rules.ts';
import { timeView } from './views/time.ts';
import { trustTitle, trustView } from './views/trust.ts';

/** The content of a page below its title. */
export interface PageContent {
  readonly status: number;
  readonly title: string;
  readonly content: VNode;
}

/** The pages of a console. */
export interface ConsolePages {
  /** @throws KubeError, or SignerError, of what a page reads */
  readonly show: (name: PageName, query: URLSearchParams) => Promise<PageContent>;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: () => number;
  readonly live: LiveRequests;
  readonly readings: Readings;
  /** The page Rules with a text, and only its verdicts. */
  readonly rules: {
    readonly show: (form: RulesForm) => Promise<PageContent>;
    readonly judge: (form: RulesForm) => Promise<RulesResults>;
  };
}

interface Context {
  readonly init: ConsoleInit;
  readonly readings: Readings;
  readonly live: LiveRequests;
  readonly view: () => View;
}

type ShowPage = (context: Context, query: URLSearchParams) => Promise<PageContent>;

const SHOW: Readonly<Record<PageName, ShowPage>> = {
  overview: showOverview,
  time: showTime,
  trust: showTrust,
  requests: showRequests,
  issued: showIssued,
  rules: (context, query) => showRules(context, { signer: textOf(query, 'signer') }),
  restarts: showRestarts,
  certificate: showCertificate,
};

/**
 * Creates the pages of a console.
 *
 * @param signal - ends what they watch
 */
export function createPages(init: ConsoleInit, prefix: string, signal: AbortSignal): ConsolePages {
  const readings = createReadings(init);
  const live = createLiveRequests(init, signal);
  const { canAct } = init;
  const view = (): View => ({ prefix, now: readings.now(), canAct });
  const context = { init, readings, live, view };
  return {
    live,
    readings,
    now: readings.now,
    show: (name, query) => SHOW[name](context, query),
    rules: {
      show: (form) => showRules(context, form),
      judge: async (form) => {
        const signer = (await signersOf(readings)).find((each) => isNamed(each, form.signer));
        if (signer !== undefined) return judgeRules(init, signer, form);
        const fault = `no ClusterSigner that you may read has the name ${form.signer ?? ''}`;
        return { fault, samples: [], notes: [] };
      },
    },
  };
}

/** Shows what is known within half a second. The stream sends the parts that take longer. */
async function showOverview(
  { init, readings, view }: Context,
  query: URLSearchParams,
): Promise<PageContent> {
  const all = readings.readAll();
  // A later failure is in the next page, and in the stream.
  all.catch(() => undefined);
  await Promise.race([all, init.delay(FIRST_PAGE_MS)]);
  const show = textOf(query, 'show');
  const model = overviewOf(readings.known(), { now: readings.now(), show });
  return { status: 200, title: 'Overview', content: overviewView(view(), model, { show }) };
}

/** Longest wait for parts of the first page: people notice more as a delay. */
const FIRST_PAGE_MS = 500;

async function showTime({ readings, view }: Context, query: URLSearchParams): Promise<PageContent> {
  const [facts, issued] = [await readings.facts(), await readings.issued({})];
  const span = spanOf(textOf(query, 'span'));
  const choice = { span, signer: textOf(query, 'signer'), now: readings.now() };
  const content = timeView(view(), timeModel(facts, issued, choice));
  return { status: 200, title: 'Time', content };
}

async function showTrust(
  { init, readings, view }: Context,
  query: URLSearchParams,
): Promise<PageContent> {
  const choice = trustChoiceOf(query);
  const { installed } = await readings.facts();
  const { signers, pods } = installed ?? { signers: NOT_READ, pods: NOT_READ };
  if (!('value' in signers)) {
    return { status: 200, title: 'Trust', content: lacksOf(signers.lacks) };
  }
  const { states } = signers.value;
  if (choice.signer === undefined) {
    const model = trustList(states, pods, choice);
    return { status: 200, title: trustTitle(model), content: trustView(view(), model) };
  }
  const state = states.find(({ signer }) => signer.metadata.name === choice.signer);
  if (state === undefined) return notFound(`No ClusterSigner has the name ${choice.signer}.`);
  const [{ targets, lacks }, hasCertManager] = await Promise.all([
    readTargets(init.client, state),
    unlessForbidden(isCertManagerServed(init.client)),
  ]);
  const facts = { state, states, pods, targets, lacksTargets: lacks, hasCertManager };
  const model = await trustOfSigner(facts, choice);
  if (model === undefined) return notFound(`The signer has no CA ${choice.ca ?? ''}.`);
  return { status: 200, title: trustTitle(model), content: trustView(view(), model) };
}

const NOT_READ = { lacks: 'read the installation' };

function notFound(why: string): PageContent {
  return { status: 404, title: 'Not found', content: el('p', {}, why) };
}

function trustChoiceOf(query: URLSearchParams): TrustChoice {
  const text = (name: string): string | undefined => textOf(query, name);
  const [signer, ca, show] = [text('signer'), text('ca'), text('show')];
  const [workload, namespace] = [text('workload'), text('in')];
  return { signer, ca, show, workload, in: namespace, from: fromOf(query) };
}

async function showRequests(
  { init, live, view }: Context,
  query: URLSearchParams,
): Promise<PageContent> {
  await live.ready();
  const filter = filterOf(query);
  const subject = textOf(query, 'explain');
  const explanation =
    subject === undefined ? undefined : await explained(init, subject, textOf(query, 'in') ?? '');
  const rows = live.rows();
  const page = requestPage(rows, filter);
  const namespace = textOf(query, 'in');
  const row = rows.find((each) => each.subject === subject && each.namespace === namespace);
  const isUndecided = row?.state === 'approval';
  const beside = { subject, namespace, explanation, isUndecided };
  const model = { page, filter, failures: live.failures(), ...beside };
  return { status: 200, title: 'Requests', content: requestsView(view(), model) };
}

/** Returns the filter of an address of the page Requests, or of its stream. */
export function filterOf(query: URLSearchParams): RequestFilter {
  return {
    state: textOf(query, 'state'),
    signer: textOf(query, 'signer'),
    namespace: textOf(query, 'namespace'),
    from: fromOf(query),
  };
}

/** Returns an explanation, or why it cannot be read: the page shows its other parts then. */
async function explained(
  { client, clock, propagationSeconds }: ConsoleInit,
  subject: string,
  namespace: string,
): Promise<Explanation | string> {
  const [kind = '', name = ''] = subject.split('/');
  const init = { client, clock, propagationSeconds };
  try {
    return await explain(init, { kind, name, namespace });
  } catch (error) {
    return messageOf(error);
  }
}

async function showIssued(
  { readings, view }: Context,
  query: URLSearchParams,
): Promise<PageContent> {
  const text = (name: string): string | undefined => textOf(query, name);
  const [signer, namespace, serial, san] = [
    text('signer'),
    text('namespace'),
    text('serial'),
    text('san'),
  ];
  const more = { holder: text('holder'), issued: text('issued'), expired: text('expired') };
  const from = fromOf(query);
  const search = { signer, namespace, serial, san, ...more, from };
  // The ledger has no search by an ending.
  const whole = san?.startsWith('*') === true ? undefined : san;
  const { entries, places, cutAt } = await readings.issued({
    signer,
    namespace,
    serial,
    san: whole,
  });
  const all = searchRows(entries, search, readings.now());
  const rows = all.slice(from, from + ISSUED_A_PAGE);
  const model = { search, rows, total: all.length, places, cutAt };
  return { status: 200, title: 'Issued', content: issuedView(view(), model) };
}

/** A selected signer, with a text or with its own rules. */
type RulesChoice = Pick<RulesForm, 'signer'> & Partial<RulesForm>;

async function showRestarts(
  { readings, view }: Context,
  query: URLSearchParams,
): Promise<PageContent> {
  const title = 'Restarts';
  try {
    const model = restartsModel(await readings.restarts(), fromOf(query));
    return { status: 200, title, content: restartsView(view(), model) };
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    return { status: 200, title, content: faultView(faultOf(error)) };
  }
}

async function showRules(
  { init, readings, view }: Context,
  { signer: name, yaml, replays = false }: RulesChoice,
): Promise<PageContent> {
  const seen = await readings.signers();
  if (!('value' in seen)) return { status: 200, title: 'Rules', content: lacksOf(seen.lacks) };
  const all = await signersOf(readings);
  const signer = name === undefined ? all[0] : all.find((each) => isNamed(each, name));
  if (signer === undefined) return notFound(`No ClusterSigner has the name ${name ?? ''}.`);
  const text = yaml ?? init.rules.yamlOf(signer);
  const results = await judgeRules(init, signer, { yaml: text, replays });
  const model = {
    signers: all.map(({ metadata }) => metadata.name),
    signer: signer.metadata.name,
    yaml: text,
    results,
  };
  return { status: 200, title: 'Rules', content: rulesView(view(), model) };
}

async function signersOf(readings: Readings): Promise<readonly ClusterSigner[]> {
  const seen = await readings.signers();
  return 'value' in seen ? seen.value.states.map(({ signer }) => signer) : [];
}

function isNamed({ metadata }: ClusterSigner, name: string | undefined): boolean {
  return metadata.name === name;
}

async function showCertificate(
  { init, readings, view }: Context,
  query: URLSearchParams,
): Promise<PageContent> {
  const fingerprint = textOf(query, 'fingerprint');
  const { entries } = await readings.issued({ serial: textOf(query, 'serial') });
  const entry = entries.find(({ row }) => row.fingerprint === fingerprint);
  if (entry === undefined) {
    const why =
      'No ledger record or live object that you may read has this certificate. Live objects of pods are deleted after 15 minutes.';
    return { status: 404, title: 'Certificate not found', content: el('p', {}, why) };
  }
  const model = await readCertificate(init.client, entry);
  const title = `Certificate ${entry.row.names[0] ?? entry.row.serial}`;
  return { status: 200, title, content: certificateView(view(), model) };
}

function textOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)?.trim();
  return text === '' ? undefined : text;
}

function fromOf(query: URLSearchParams): number {
  const from = Number(query.get('from') ?? 0);
  return Number.isSafeInteger(from) && from >= 0 ? from : 0;
}
