// SPDX-License-Identifier: Apache-2.0
import { WORKLOAD_RESOURCES } from '../../../api/workload/workload.ts';
import { LOG_KEY_SECRET } from '../../../controllers/ledger/log-key.ts';
import { usageError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { SECRETS } from '../../../kube/resource/core-v1.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { structuredText, type Output } from '../../../operations/report.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';

/** Flags of `countersign ledger rotate-key`. */
export interface RotateKeyOptions extends UserOptions {
  readonly namespace: string;
  readonly finish?: boolean;
  readonly stolen?: boolean;
  readonly yes?: boolean;
  readonly output: Output;
}

const DEPLOYMENTS = resource(WORKLOAD_RESOURCES.Deployment);
const DEPLOYMENT = 'countersign-ledger';
/** As kubectl rollout restart writes it. */
const RESTARTED = 'kubectl.kubernetes.io/restartedAt';

/** What is done to the Secret. The API server moves the key: who rotates never sees one, and needs no right to read it. */
interface Change {
  readonly contentType: string;
  readonly body: unknown;
  readonly plan: string;
  readonly next: string;
}

const JSON_PATCH = 'application/json-patch+json';

const BEGIN: Change = {
  contentType: JSON_PATCH,
  body: [
    // Of a member that is not there, null: an overlap that goes on must be finished first.
    { op: 'test', path: '/data/previous.key', value: null },
    { op: 'move', from: '/data/log.key', path: '/data/previous.key' },
  ],
  plan: 'the key becomes the former one, and the ledger makes the next when it restarts; both sign',
  next: 'with the next record a new log begins: give verifiers and witnesses its key (countersign ledger keys), then countersign ledger rotate-key --finish --yes',
};

const FINISH: Change = {
  contentType: JSON_PATCH,
  body: [{ op: 'remove', path: '/data/previous.key' }],
  plan: 'the former key is removed for good: who knows only that one accepts no newer checkpoint',
  next: 'checkpoints have one signature of the ledger again',
};

const STOLEN: Change = {
  contentType: 'application/merge-patch+json',
  body: { data: { 'log.key': null, 'previous.key': null } },
  plan: 'all keys are removed for good, and the ledger makes another when it restarts: nothing vouches for it',
  next: 'with the next record a new log begins: hand its key (countersign ledger keys) over by a way that the thief does not have',
};

/**
 * Runs `countersign ledger rotate-key`: changes the Secret of the log's key, and restarts the ledger. Without `--yes` it asks
 * the API server with `dryRun`, and nothing is changed.
 *
 * @throws KubeError; SignerError USAGE, also where the Secret has not the keys for it
 */
export async function runRotateKey(options: RotateKeyOptions): Promise<void> {
  if (options.finish === true && options.stolen === true) {
    throw usageError('write --finish or --stolen, not both');
  }
  const change = options.stolen === true ? STOLEN : options.finish === true ? FINISH : BEGIN;
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
  { contentType, body }: Change,
  isDry: boolean,
): Promise<void> {
  const query = isDry ? { dryRun: 'All' } : {};
  const path = SECRETS.object({ namespace, name: LOG_KEY_SECRET });
  try {
    await client.request({ method: 'PATCH', path, contentType, body, query });
  } catch (error) {
    // A test or a removal of what is not so (RFC 6902); the API server answers 422 or 400.
    if (!(error instanceof KubeError) || (error.status !== 422 && error.status !== 400))
      throw error;
    throw usageError(
      'the Secret has not the keys for that: while a former key is there, finish first (--finish); without one there is nothing to finish',
    );
  }
  const annotations = { [RESTARTED]: new Date().toISOString() };
  await client.request({
    method: 'PATCH',
    path: DEPLOYMENTS.object({ namespace, name: DEPLOYMENT }),
    contentType: 'application/merge-patch+json',
    body: { spec: { template: { metadata: { annotations } } } },
    query,
  });
}
