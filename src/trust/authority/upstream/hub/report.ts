// SPDX-License-Identifier: Apache-2.0
/** Reports to the hub: a member writes the status of its own FleetMember. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  FLEET_MEMBERS,
  MAX_REPORTED_ANCHORS,
  MAX_REPORTED_TEXT,
  MAX_REPORTED_VERSION,
  REPORT_INTERVAL_MS,
  type FleetMemberStatus,
} from '#api/signer/fleet-member.ts';
import { keyOf } from '#api/object/object.ts';
import { formatTime } from '#api/object/time.ts';
import { findCondition } from '#api/request/conditions.ts';
import type { Delay, Log } from '#base/ports.ts';
import { isWithinDelay, serverTime } from '#component/server-time.ts';
import { resource } from '#kube/resource/resource.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import type { HubCredential } from './credential.ts';
import { credentialOf, problemOf, type HubInit } from './index.ts';
import * as messages from './messages.ts';

export interface ReportInit extends HubInit {
  readonly delay: Delay;
  readonly log: Pick<Log, 'warn'>;
  /** Version of this process. */
  readonly version: string;
  /** The signers that this replica handles. */
  readonly signers: () => readonly ClusterSigner[];
  /** Returns the fingerprints of the anchors in the bundle of a signer. */
  readonly anchorsOf: (signer: ClusterSigner) => readonly string[];
}

const MEMBERS = resource(FLEET_MEMBERS);

/** Interval of the comparisons with the last report. They call no hub. */
const CHANGES_MS = 15_000;

/** Delay after a failed report, doubled for each. */
const FIRST_RETRY_MS = 60_000;
/** Limit on that delay. */
const MAX_RETRY_MS = 1_800_000;

/** Time limit of a call, so that a slow hub delays reports to other hubs by no more. */
const CALL_MS = 10_000;

/** Limit of the answer in bytes. The hub answers with the object. */
const MAX_MEMBER_BYTES = 262_144;

/** The last attempt for one signer. */
interface Attempt {
  /** The report as text. A different report is due at once. */
  readonly text: string;
  readonly failures: number;
  /** Milliseconds, by the API server's clock. */
  readonly sentAt: number;
  /** The time in milliseconds at which the same report is due again. */
  readonly dueAt: number;
}

/** Reports for each signer below a hub, at a change and every hour, until `signal` is aborted. */
export async function reportToHubs(init: ReportInit, signal: AbortSignal): Promise<void> {
  let attempts = new Map<string, Attempt>();
  while (!signal.aborted) {
    const next = new Map<string, Attempt>();
    for (const signer of init.signers()) {
      if (signer.spec.authority.managed?.upstream?.csr === undefined) continue;
      const key = keyOf(signer.metadata);
      next.set(key, await reportIfDue(init, signer, attempts.get(key)));
    }
    attempts = next;
    await init.delay(CHANGES_MS, signal).catch(() => undefined);
  }
}

async function reportIfDue(
  init: ReportInit,
  signer: ClusterSigner,
  last: Attempt | undefined,
): Promise<Attempt> {
  const report = reportOf(signer, init);
  const text = JSON.stringify(report);
  const now = serverTime(init);
  const failures = last?.failures ?? 0;
  // After a failure, a change does not make the next report earlier.
  if (last !== undefined && isWaiting(last, now) && (last.text === text || failures > 0)) {
    return last;
  }
  const problem = await send(init, signer, report);
  if (problem === undefined)
    return { text, failures: 0, sentAt: now, dueAt: now + REPORT_INTERVAL_MS };
  if (failures === 0) {
    init.log.warn({ signer: signer.metadata.name, error: problem }, messages.NOT_REPORTED);
  }
  const { random } = init;
  const backoff = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random };
  const dueAt = now + backoffDelay(failures, backoff);
  return { text, failures: failures + 1, sentAt: now, dueAt };
}

function isWaiting({ sentAt, dueAt }: Attempt, now: number): boolean {
  return isWithinDelay(now, { from: sentAt, until: dueAt });
}

/** Returns the report of a signer, without its time. */
function reportOf(
  signer: ClusterSigner,
  { version, anchorsOf }: Pick<ReportInit, 'version' | 'anchorsOf'>,
): FleetMemberStatus {
  const active = signer.status?.authorities?.find(({ phase }) => phase === 'Active');
  return {
    version: version.slice(0, MAX_REPORTED_VERSION),
    authority: active && { fingerprint: active.fingerprint, notAfter: active.notAfter },
    anchors: [...anchorsOf(signer)].sort().slice(0, MAX_REPORTED_ANCHORS),
    waitsFor: waitsFor(signer)?.slice(0, MAX_REPORTED_TEXT),
  };
}

/** Returns the first problem of a signer, the most urgent one first. */
function waitsFor({ status }: ClusterSigner): string | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready !== undefined && ready.status !== 'True') return ready.message;
  return ['AwaitingCertificate', 'Degraded', 'RotationDue']
    .map((type) => findCondition(status?.conditions, type))
    .find((condition) => condition?.status === 'True')?.message;
}

/** Writes the report. Returns its problem as text. */
async function send(
  init: ReportInit,
  signer: ClusterSigner,
  report: FleetMemberStatus,
): Promise<string | undefined> {
  let credential: HubCredential | string;
  try {
    credential = await credentialOf(init, signer);
  } catch {
    return messages.MALFORMED_ANSWER;
  }
  if (typeof credential === 'string') return credential;
  const client = init.connect(credential);
  const { namespace, account: name } = credential.token;
  const { version, authority = null, anchors, waitsFor: waits = null } = report;
  try {
    await client.request({
      method: 'PATCH',
      path: MEMBERS.object({ namespace, name }, 'status'),
      contentType: 'application/merge-patch+json',
      // Null removes the field of an earlier report.
      body: {
        status: {
          version,
          authority,
          anchors,
          waitsFor: waits,
          reportedAt: formatTime(serverTime(init)),
        },
      },
      signal: AbortSignal.timeout(CALL_MS),
      maxBytes: MAX_MEMBER_BYTES,
    });
    return undefined;
  } catch (error) {
    return problemOf(error, credential);
  } finally {
    await client.close();
  }
}
