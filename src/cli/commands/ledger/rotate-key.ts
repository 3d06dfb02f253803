// SPDX-License-Identifier: Apache-2.0
import { WORKLOAD_RESOURCES } from '#api/workload/workload.ts';
import { LOG_KEY_SECRET } from '#ledger/ledger/objects.ts';
import { SignerError, usageError } from '#base/errors.ts';
import { shellWord } from '#base/quote.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign ledger rotate-key`. */
export interface RotateKeyOptions extends UserOptions {
  readonly namespace: string;
  readonly complete?: boolean;
  readonly compromised?: boolean;
  readonly yes?: boolean;
  readonly output: Output;
}

const DEPLOYMENTS = resource(WORKLOAD_RESOURCES.Deployment);
const DEPLOYMENT = 'countersign-ledger';
/** Annotation that kubectl rollout restart writes. */
const RESTARTED = 'kubectl.kubernetes.io/restartedAt';

/**
 * A change of the Secret. The API server moves the key, so the user never sees one and needs no
 * permission to read it.
 */
interface Change {
  readonly contentType: string;
  readonly body: unknown;
  readonly plan: string;
  readonly next: string;
  /** The error if the Secret does not have the keys for the change. */
  readonly unmet: string;
}

const JSON_PATCH = 'application/json-patch+json';

const BEGIN: Change = {
  contentType: JSON_PATCH,
  body: [
    // An absent member is null. A pending overlap must be completed first.
    { op: 'test', path: '/data/previous.key', value: null },
    { op: 'move', from: '/data/log.key', path: '/data/previous.key' },
  ],
  plan: 'the key becomes the former one, and the ledger makes the next when it restarts; both sign',
  next: 'with the next record a new log begins: give verifiers and witnesses its key (countersign ledger keys), then countersign ledger rotate-key --complete --yes',
  unmet:
    'the Secret does not have the keys for that: with a former key, complete the rotation first (--complete); without any key, the ledger makes one when it restarts',
};

const COMPLETE: Change = {
  contentType: JSON_PATCH,
  body: [
    // A move onto itself fails if the key is absent: until the ledger restarts, the former key is
    // the only one. The API server has no other test for presence: its copy of nothing succeeds.
    { op: 'move', from: '/data/log.key', path: '/data/log.key' },
    { op: 'remove', path: '/data/previous.key' },
  ],
  plan: 'the former key is removed for good: verifiers with only that key reject newer checkpoints',
  next: 'checkpoints have one signature of the ledger again',
  unmet:
    'the Secret does not have the keys for that: without a former key, there is nothing to complete; with it alone, the ledger makes the next key when it restarts',
};

const COMPROMISED: Change = {
  contentType: 'application/merge-patch+json',
  body: { data: { 'log.key': null, 'previous.key': null } },
  plan: 'all keys are removed for good, and the ledger makes another when it restarts: nothing vouches for it',
  next: 'with the next record a new log begins: hand its key (countersign ledger keys) over by a channel that the thief cannot use',
  unmet: 'the Secret does not accept the change',
};

/**
 * Runs `countersign ledger rotate-key`: changes the Secret of the log's key, and restarts the
 * ledger. Without `--yes` it sends `dryRun`, which changes nothing.
 *
 * @throws KubeError, or SignerError USAGE, also if the Secret lacks the keys for it
 */
export async function runRotateKey(options: RotateKeyOptions): Promise<void> {
  if (options.complete === true && options.compromised === true) {
    throw usageError('write --complete or --compromised, not both');
  }
  const change =
    options.compromised === true ? COMPROMISED : options.complete === true ? COMPLETE : BEGIN;
  const isDry = options.yes !== true;
  const { client } = await connectUser(options, 'ledger');
  try {
    await changed(client, options.namespace, change, isDry);
    if (options.output !== 'text') {
      const { plan, next } = change;
      printDocument(structuredText({ changed: !isDry, plan, next }, options.output));
    } else printText(`${change.plan}\n`);
    printProgress(isDry ? 'nothing is changed; repeat it with --yes' : change.next);
  } finally {
    await client.close();
  }
}

async function changed(
  client: Client,
  namespace: string,
  change: Change,
  isDry: boolean,
): Promise<void> {
  // A ledger that does not restart would sign with a key that the Secret no longer has.
  await restart(client, namespace, true);
  await changeSecret(client, namespace, change, isDry);
  if (isDry) return;
  try {
    await restart(client, namespace, false);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new SignerError({
      code: error.code,
      disposition: error.disposition,
      message: `the Secret is changed, and the ledger is not restarted: ${error.message}`,
      next: `kubectl rollout restart deployment/${DEPLOYMENT} -n ${shellWord(namespace)}`,
      cause: error,
    });
  }
}

async function changeSecret(
  client: Client,
  namespace: string,
  { contentType, body, unmet }: Change,
  isDry: boolean,
): Promise<void> {
  const path = SECRETS.object({ namespace, name: LOG_KEY_SECRET });
  try {
    await client.request({ method: 'PATCH', path, contentType, body, query: queryOf(isDry) });
  } catch (error) {
    // A failed operation of the patch (RFC 6902). The API server answers 422 or 400.
    const isUnmet = error instanceof KubeError && [400, 422].includes(error.status);
    throw isUnmet ? usageError(unmet) : error;
  }
}

async function restart(client: Client, namespace: string, isDry: boolean): Promise<void> {
  const annotations = { [RESTARTED]: new Date().toISOString() };
  await client.request({
    method: 'PATCH',
    path: DEPLOYMENTS.object({ namespace, name: DEPLOYMENT }),
    contentType: 'application/merge-patch+json',
    body: { spec: { template: { metadata: { annotations } } } },
    query: queryOf(isDry),
  });
}

function queryOf(isDry: boolean): Record<string, string> {
  return isDry ? { dryRun: 'All' } : {};
}
