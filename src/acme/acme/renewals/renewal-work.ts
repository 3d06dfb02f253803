// SPDX-License-Identifier: Apache-2.0
import { renewalId } from '#acme/protocol/index.ts';
import { askRenewal } from '#acme/issuing/index.ts';
import {
  afterRenewalInfo,
  failuresAfterRenewalInfo,
  nextRenewalStep,
  overdueAt,
} from '#acme/orders/index.ts';
import type { OrderRenewal, RenewalView } from '#acme/orders/renewal.ts';
import { timeOf, toWrite } from '#acme/orders/status.ts';
import { ORDERS } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import { resource } from '#kube/resource/resource.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import { callRight, type AcmeContext } from '../context.ts';
import { eventsOfRenewal } from '../store/events.ts';
import type { Term } from '../store/leader-state.ts';
import { statusChanged, writeStatus } from '../store/write-status.ts';
import type { AccountTurns } from './account-turns.ts';
import { markCertificate } from './mark-certificate.ts';
import type { RenewalCounts } from './renewal-counts.ts';

const PATHS = resource(ORDERS);

/** Parts that the Orders of a term share. */
export interface RenewalParts {
  readonly context: AcmeContext;
  readonly term: Term;
  readonly turns: AccountTurns;
  readonly counts: RenewalCounts;
  /** Time of the next check of a due Certificate, by uid. */
  readonly lookAt: Map<string, number>;
  /** Whether to mark Certificates of cert-manager. */
  readonly marks: boolean;
}

/** An Order with its certificate. */
export interface IssuedOrder {
  readonly order: Order;
  readonly leaf: Certificate;
  /** Whether a newer certificate of the same requester exists. */
  readonly isReplaced: boolean;
}

type PlannedRenewal = OrderRenewal & { readonly renewAt: string };

/** Plans the renewal of one Order's certificate, and reports it when it is due. */
export async function reconcileRenewal(
  parts: RenewalParts,
  issued: IssuedOrder,
): Promise<ReconcileResult> {
  const { context, turns, counts, lookAt } = parts;
  const { order, leaf } = issued;
  const { uid } = order.metadata;
  const view = viewOf(parts, issued);
  const step = nextRenewalStep(view, nowOf(parts));
  if (step.step !== 'ask') turns.drop(keyOf(order.metadata));
  if (step.step === 'done') {
    counts.set(uid, undefined);
    lookAt.delete(uid);
    return undefined;
  }
  if (step.step === 'wait') return requeueAt(context.component, step.until);
  const asked = step.step === 'ask' ? await ask(parts, order, view) : undefined;
  const status = step.step === 'note' ? step.status : (asked?.status ?? step.meanwhile);
  if (isPlanned(status)) {
    await write(context, order, { ...status, ...(await mark(parts, order, status)) });
    count(parts, order, leaf, timeOf(status.renewAt));
  }
  const until = nextAt(leaf, status, nowOf(parts), [asked?.heldUntil, lookAt.get(uid)]);
  return requeueAt(context.component, until);
}

function isPlanned(status: OrderRenewal | undefined): status is PlannedRenewal {
  return status?.renewAt !== undefined;
}

function viewOf({ context }: RenewalParts, { order, leaf, isReplaced }: IssuedOrder): RenewalView {
  const { metadata, spec, status } = order;
  const id = renewalId(leaf);
  const signer = context.signers.get(keyOfRef(spec.signerRef, metadata.namespace ?? ''));
  return {
    status: status.renewal ?? {},
    leaf: { ...leaf, id: id ?? metadata.uid },
    issuedAt: timeOf(status.finalAt) ?? leaf.notBefore,
    isReplaced,
    asks: id !== undefined && signer?.spec.acme.renewalInfo !== false,
  };
}

/** Result of a request for a window. */
interface RenewalWindowResult {
  /** Undefined while the signer cannot be called, or others of the account come first. */
  readonly status?: OrderRenewal;
  /** Time until which no request is possible. */
  readonly heldUntil?: number | undefined;
}

async function ask(
  parts: RenewalParts,
  order: Order,
  view: RenewalView,
): Promise<RenewalWindowResult> {
  const { context, term, turns } = parts;
  const { metadata, spec } = order;
  const key = keyOf(metadata);
  const signer = { signerRef: spec.signerRef, namespace: metadata.namespace ?? '' };
  const right = callRight(context, term, signer, nowOf(parts));
  if ('deferral' in right) {
    turns.drop(key);
    return { heldUntil: right.deferral.until };
  }
  const { account } = right.session.account;
  if (!turns.take(account, key, nowOf(parts))) return {};
  const answer = await askRenewal(right.session, view.leaf.id);
  const failures = failuresAfterRenewalInfo(answer, turns.failuresOf(account));
  const now = nowOf(parts);
  const status = afterRenewalInfo(view, answer, failures, now);
  const until = timeOf(status.checkAt);
  const failed = failures > 0 && until !== undefined ? { until, failures } : undefined;
  turns.end(account, key, now, failed);
  return { status };
}

/**
 * Marks the Certificate, and cert-manager renews it. Without a window from the CA, cert-manager
 * decides when.
 */
async function mark(
  parts: RenewalParts,
  order: Order,
  status: PlannedRenewal,
): Promise<Pick<OrderRenewal, 'reason' | 'message' | 'markedAt'>> {
  const { context, lookAt, marks } = parts;
  const { uid } = order.metadata;
  const now = nowOf(parts);
  const isMarked =
    marks &&
    order.spec.requestRef.kind === 'CertificateRequest' &&
    status.windowStart !== undefined &&
    timeOf(status.renewAt) <= now &&
    now >= (lookAt.get(uid) ?? 0);
  if (!isMarked) return {};
  const outcome = await markCertificate(context.component, order);
  lookAt.set(uid, outcome.lookAt);
  return outcome.told ?? {};
}

async function write(
  { component, orders }: Pick<AcmeContext, 'component' | 'orders'>,
  before: Order,
  renewal: OrderRenewal,
): Promise<void> {
  const status = { ...before.status, renewal: toWrite(renewal) };
  if (!statusChanged(before.status, status)) return;
  const written = await writeStatus(component, PATHS, { ...before, status });
  orders.applyWrite(written);
  for (const event of eventsOfRenewal(written, before.status.renewal)) {
    component.events.record(event);
    const { reason, note } = event;
    component.log.info({ order: keyOf(before.metadata), reason, note }, 'renewal');
  }
}

function count(parts: RenewalParts, { metadata }: Order, leaf: Certificate, at: number): void {
  const now = nowOf(parts);
  const late = now >= overdueAt(at, leaf.notAfter) ? 'overdue' : 'due';
  parts.counts.set(metadata.uid, { state: at > now ? 'waiting' : late, renewAt: at });
}

/** Returns the next time at which an action is due, or the metrics change. */
function nextAt(
  { notAfter }: Certificate,
  status: OrderRenewal | undefined,
  now: number,
  others: readonly (number | undefined)[],
): number {
  const at = timeOf(status?.renewAt) ?? notAfter;
  const times = [timeOf(status?.checkAt), at, overdueAt(at, notAfter), ...others];
  return Math.min(
    ...times.filter((each): each is number => each !== undefined && each > now),
    notAfter,
  );
}

function nowOf({ context }: RenewalParts): number {
  return serverTime(context.component);
}
