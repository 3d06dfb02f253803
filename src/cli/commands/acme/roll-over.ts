// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { accountSecretOf } from '#api/acme/account-key.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { keyOf, type KubeObject, type Secret } from '#api/object/object.ts';
import { findCondition } from '#api/request/conditions.ts';
import { NEXT_KEY, PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { VERSION } from '#app/version.ts';
import { nextThumbprintOf } from '#trust/authority/account-keys/decide.ts';
import { writeAccountKey } from '#trust/authority/account-keys/write.ts';
import { usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError, transientError } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { annotationTime } from '#operations/change-plan.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { serverTime } from '#component/server-time.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign authority prepare | activate`, for the key of an ACME account. */
export interface RollOverOptions extends UserOptions {
  /** Namespace of an AcmeSigner. */
  readonly namespace?: string;
  readonly output: Output | 'name';
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** The result that `-o json` prints. */
export interface RollOverReport {
  readonly verb: 'prepare' | 'activate';
  readonly signer: string;
  /** `pending`: the change is requested, and the account still has the old key. */
  readonly outcome: 'changed' | 'unchanged' | 'refused' | 'pending';
  readonly notes: readonly string[];
}

/** The signer with a name such as `acmeclustersigner/public`. */
interface Target {
  readonly kind: Resource;
  readonly name: string;
  /** Namespace of an AcmeSigner. */
  readonly namespace?: string | undefined;
}

const KINDS: ReadonlyMap<string, Resource> = new Map([
  ['acmeclustersigner', resource(ACME_CLUSTER_SIGNERS)],
  ['acmesigner', resource(ACME_SIGNERS)],
]);
/** The exit codes of the outcomes other than 0. */
const OUTCOME_EXITS: Readonly<Partial<Record<RollOverReport['outcome'], number>>> = {
  refused: EXIT_REFUSED,
  pending: 4,
};
/** Polls for the change. `acme` needs several calls of the ACME server, more with a rate limit. */
const LOOKS = 120;
const LOOK_MS = 1_000;

/** Reports whether a name has the form `acmeclustersigner/NAME` or `acmesigner/NAME`. */
export function isAcmeSignerName(name: string): boolean {
  return KINDS.has(kindIn(name));
}

function kindIn(name: string): string {
  const [kind = '', ...rest] = name.split('/');
  return rest.length === 1 ? kind.toLowerCase().replace(/s$/, '') : '';
}

/**
 * Runs `countersign authority prepare | activate` for the key of an ACME account.
 *
 * @param name - in the form of {@link isAcmeSignerName}
 * @returns the exit code
 * @throws KubeError, or SignerError USAGE
 */
export async function runRollOver(
  verb: RollOverReport['verb'],
  name: string,
  options: RollOverOptions,
): Promise<number> {
  const { client } = await connectUser(options, 'authority');
  try {
    const report = await rollOverAccountKey(client, verb, name, options);
    const { output } = options;
    if (output === 'text') printText(textOf(report, options.dryRun));
    else if (output === 'name') printText(`${report.signer}\n`);
    else printDocument(structuredText(report, output));
    return OUTCOME_EXITS[report.outcome] ?? 0;
  } finally {
    await client.close();
  }
}

/** Does the same with any client. */
export async function rollOverAccountKey(
  client: Client,
  verb: RollOverReport['verb'],
  name: string,
  options: Pick<RollOverOptions, 'namespace' | 'force' | 'dryRun'>,
): Promise<RollOverReport> {
  const target = targetOf(name, options.namespace);
  const signer = await read(client, target);
  const report = { verb, signer: name };
  if (signer.status.account?.url === undefined && !options.force) {
    const note = 'it has no account yet; see its condition Ready';
    return { ...report, outcome: 'refused', notes: [note] };
  }
  const run = { client, target, signer, ...options };
  const isOfCluster = target.namespace === undefined;
  const done = isOfCluster
    ? await inCluster(verb, run)
    : await (verb === 'prepare' ? prepareSecret(run) : activateSecret(run));
  return { ...report, ...done };
}

/** One run of a verb. */
interface Run extends Pick<RollOverOptions, 'force' | 'dryRun'> {
  readonly client: Client;
  readonly target: Target;
  readonly signer: AcmeSigner;
}

type RollOverOutcome = Pick<RollOverReport, 'outcome' | 'notes'>;

/** Requests the change by annotations. `authority` writes the Secret. */
async function inCluster(verb: RollOverReport['verb'], run: Run): Promise<RollOverOutcome> {
  const { name } = run.target;
  const { nextKeyThumbprint: next } = run.signer.status.account ?? {};
  if (verb === 'prepare') {
    if (next !== undefined) return { outcome: 'unchanged', notes: [`${next} is prepared already`] };
    await annotate(run, PREPARE_AT);
    const how = `authority makes a key beside the one in use; status.account.nextKeyThumbprint shows it, then run countersign authority activate acmeclustersigner/${name}`;
    return { outcome: 'changed', notes: [how, COPY] };
  }
  if (next === undefined && !run.force) {
    const how = `no key is prepared; run countersign authority prepare acmeclustersigner/${name} first, and keep a copy of the key`;
    return { outcome: 'refused', notes: [how, 'use --force to override'] };
  }
  await annotate(run, ROTATE_AT);
  const how = 'the account changes to the new key; the condition KeyRolledOver shows when it has';
  return { outcome: 'changed', notes: [how] };
}

const COPY = 'keep a copy of the Secret: without the key, the account is lost';

/** Creates the new key as the user, because `authority` has no permission in the namespace. */
async function prepareSecret(run: Run): Promise<RollOverOutcome> {
  const { reference, secret } = await secretOf(run);
  if ((secret.data?.[NEXT_KEY] ?? '') !== '')
    return { outcome: 'unchanged', notes: [`Secret ${keyOf(reference)} has a new key already`] };
  await write('prepare', run, secret);
  const where = `Secret ${keyOf(reference)} has a new key beside the one in use`;
  return { outcome: 'changed', notes: [where, COPY] };
}

/**
 * Requests the change, waits until `acme` has seen the account with the new key, and removes the
 * old one.
 */
async function activateSecret(run: Run): Promise<RollOverOutcome> {
  const { reference, secret } = await secretOf(run);
  const where = `Secret ${keyOf(reference)}`;
  const thumbprint = await nextThumbprintOf(secret);
  if (thumbprint === undefined) {
    const how = `${where} has no new key; run countersign authority prepare first`;
    return { outcome: 'refused', notes: [how] };
  }
  const isDone = ({ status }: AcmeSigner): boolean => status.account?.keyThumbprint === thumbprint;
  if (!isDone(run.signer)) {
    const asked = await annotate(run, ROTATE_AT);
    const why = run.dryRun ? undefined : await whyNotYet(run, asked, isDone);
    if (why !== undefined)
      return {
        outcome: 'pending',
        notes: [`${why}; both keys stay in ${where}, and activate again ends it`],
      };
  }
  await write('promote', run, secret);
  return { outcome: 'changed', notes: [`the account has the new key, and ${where} that alone`] };
}

/** @returns undefined once the account has the new key */
async function whyNotYet(
  { client, target }: Run,
  asked: number,
  isDone: (signer: AcmeSigner) => boolean,
): Promise<string | undefined> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const signer = await read(client, target).catch(transientError);
    if (!(signer instanceof KubeError)) {
      if (isDone(signer)) return undefined;
      const failure = failureSince(signer, asked);
      if (failure !== undefined) return failure;
    }
    await sleep(LOOK_MS);
  }
  return 'the component acme has not changed the key yet';
}

function failureSince({ status }: AcmeSigner, asked: number): string | undefined {
  const rolled = findCondition(status.conditions, 'KeyRolledOver');
  const isNew = Date.parse(rolled?.lastTransitionTime ?? '') >= asked;
  if (rolled?.status !== 'False' || !isNew) return undefined;
  return `${rolled.reason ?? ''}: ${rolled.message ?? ''}`;
}

async function read(client: Client, { kind, name, namespace }: Target): Promise<AcmeSigner> {
  const path = kind.object({ namespace, name });
  return readAcmeSigner(await client.request<KubeObject>({ method: 'GET', path }));
}

/** @returns the requested time, in milliseconds */
async function annotate(
  { client, target, signer, dryRun }: Run,
  requested: string,
): Promise<number> {
  const time = annotationTime(serverTime({ clock: Date.now, client }));
  const { resourceVersion } = signer.metadata;
  await client.request({
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    path: target.kind.object(target),
    query: { dryRun: dryRun ? 'All' : undefined },
    body: { metadata: { resourceVersion, annotations: { [requested]: time } } },
  });
  return Date.parse(time);
}

async function secretOf({ client, signer }: Run): Promise<{
  readonly reference: ReturnType<typeof accountSecretOf>;
  readonly secret: Secret;
}> {
  const reference = accountSecretOf(signer, '');
  const path = SECRETS.object(reference);
  return { reference, secret: await client.request<Secret>({ method: 'GET', path }) };
}

async function write(step: 'prepare' | 'promote', run: Run, secret: Secret): Promise<void> {
  if (run.dryRun) return;
  const { client, signer } = run;
  const now = serverTime({ clock: Date.now, client });
  const reference = accountSecretOf(signer, '');
  await writeAccountKey(step, { client, version: VERSION, signer, reference, secret, now });
}

function targetOf(name: string, namespace: string | undefined): Target {
  const kind = KINDS.get(kindIn(name));
  const own = name.split('/')[1] ?? '';
  const isNamespaced = kindIn(name) === 'acmesigner';
  if (kind === undefined)
    throw usageError(`${name} is not acmeclustersigner/NAME or acmesigner/NAME`);
  if (isNamespaced && namespace === undefined)
    throw usageError('an acmesigner is in a namespace; add -n');
  return { kind, name: own, ...(isNamespaced ? { namespace } : {}) };
}

function textOf({ verb, signer, outcome, notes }: RollOverReport, dryRun: boolean): string {
  const what = {
    changed: dryRun ? 'would be changed (dry run)' : 'changed',
    unchanged: 'unchanged',
    pending: 'not changed yet',
    refused: `not changed: ${verb} is refused`,
  }[outcome];
  return [`${signer} ${what}`, ...notes.map((each) => `  ${each}`)].join('\n') + '\n';
}
