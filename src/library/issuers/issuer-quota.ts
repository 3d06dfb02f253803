// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { conditionMessage, findCondition } from '#api/request/conditions.ts';
import { keyOf, type KubeObject, type ObjectMeta } from '#api/object/object.ts';
import type { IssuerStatus } from '#api/signer/issuer.ts';
import { NamespaceCount } from '#component/signers/namespace-count.ts';
import {
  MAX_SIGNERS_PER_NAMESPACE,
  MAX_SIGNER_TEXT,
  MAX_STATUS_TEXT,
  identityOf,
  isLonger,
} from '#component/signers/signer-quota.ts';
import * as messages from '../messages.ts';

/** Limit in bytes on the message of a Ready condition that is kept without the rest of a status. */
const MAX_READY_MESSAGE = 1_024;

/**
 * Bounds the number and the size of a namespace's issuers, as Signers are bounded. Namespaces share
 * the memory and the time of the author's process.
 */
export interface IssuerQuota {
  /**
   * Drops unused metadata, a status that is too long, and the spec of an issuer that is not
   * served. The hash of the annotations stays, since their change triggers a check.
   */
  readonly reduce: (object: KubeObject) => KubeObject;
  /**
   * Counts an issuer as `reduce` left it.
   *
   * @returns why it is not served, or undefined if it is within the quota
   */
  readonly admit: (object: KubeObject) => string | undefined;
  /** Returns the same for an issuer that the namespace has no room for. */
  readonly beyond: (object: KubeObject) => string | undefined;
  /** Stops counting a deleted issuer. */
  readonly release: (key: string) => void;
}

/** Creates a quota of one kind. @param plural - of the kind, for messages */
export function createIssuerQuota(plural: string): IssuerQuota {
  const counted = new NamespaceCount(MAX_SIGNERS_PER_NAMESPACE);
  const faults = new WeakMap<KubeObject, string>();
  const tooMany = messages.tooManyIssuers(plural, MAX_SIGNERS_PER_NAMESPACE);
  const tooLong = messages.issuerTooLong(MAX_SIGNER_TEXT);

  function faultOf({ metadata, spec }: KubeObject): string | undefined {
    if (!counted.hasRoom(keyOf(metadata))) return tooMany;
    return isLonger(spec, MAX_SIGNER_TEXT) ? tooLong : undefined;
  }

  return {
    reduce: (object) => {
      const { apiVersion, kind, metadata, spec } = object;
      // The definition of the kind has checked the object.
      const { status } = object as KubeObject & { readonly status?: IssuerStatus };
      const fault = faultOf(object);
      const isStatusKept = fault === undefined && !isLonger(status, MAX_STATUS_TEXT);
      const reduced = {
        apiVersion,
        kind,
        metadata: hashedIdentityOf(metadata),
        ...(fault === undefined && spec !== undefined ? { spec } : {}),
        ...(status === undefined ? {} : { status: isStatusKept ? status : readyOf(status) }),
      };
      if (fault !== undefined) faults.set(reduced, fault);
      return reduced;
    },
    admit: (object) => {
      const fault = faults.get(object);
      if (fault !== tooMany) counted.add(keyOf(object.metadata));
      return fault;
    },
    beyond: (object) => (faults.get(object) === tooMany ? tooMany : undefined),
    release: (key) => {
      counted.remove(key);
    },
  };
}

/** Returns the status with its Ready condition alone. */
function readyOf({ conditions }: IssuerStatus): IssuerStatus {
  const ready = findCondition(conditions, 'Ready');
  if (ready === undefined) return {};
  const { status, reason = '', message = '', lastTransitionTime, observedGeneration } = ready;
  const kept = {
    type: 'Ready',
    status,
    reason: conditionMessage(reason, MAX_READY_MESSAGE),
    message: conditionMessage(message, MAX_READY_MESSAGE),
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  return { conditions: [kept] };
}

function hashedIdentityOf(metadata: ObjectMeta): ObjectMeta {
  const identity = identityOf(metadata);
  const { annotations } = metadata;
  return annotations === undefined ? identity : { ...identity, annotations: hashed(annotations) };
}

function hashed(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  return { sha256: createHash('sha256').update(JSON.stringify(entries)).digest('base64url') };
}
