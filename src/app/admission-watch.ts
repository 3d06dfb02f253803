// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import {
  admissionDifferences,
  isReliedOn,
  type AdmissionContext,
  type LiveAdmission,
} from '#install/admission/compare.ts';
import { admissionRisk } from '#install/admission/risks.ts';
import type { Component } from '#component/contract.ts';
import { poll } from '#component/poll.ts';

const GROUP = { group: 'admissionregistration.k8s.io', version: 'v1' } as const;
const POLICIES = resource({ ...GROUP, plural: 'validatingadmissionpolicies' });
const BINDINGS = resource({ ...GROUP, plural: 'validatingadmissionpolicybindings' });

/** Interval of checks while a policy differs, so that a fix shows within half a minute. */
const RECHECK_DIFFERENCES_MS = 30_000;
const RECHECK_EQUAL_MS = 5 * 60_000;

/**
 * Warns while an admission policy that a component depends on differs from the output of
 * `countersign rbac`.
 */
export interface AdmissionWatch {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly warnings: () => readonly string[];
}

/** Dependencies of an {@link AdmissionWatch}. */
export interface AdmissionWatchInit extends Pick<Component, 'client' | 'delay' | 'log' | 'events'> {
  /**
   * Returns the component's permissions. It depends on the policies that it may read, and serves
   * the signers for which it may sign.
   */
  readonly permissions: () => readonly PermissionRule[];
  /** Namespace of the components. Undefined if unknown. */
  readonly namespace: string | undefined;
  /** Namespace of the keys of signers that do not name one. */
  readonly secretNamespace: string;
  /** Called with the number of differences of each compared policy. */
  readonly onDifferences: (policy: string, count: number) => void;
}

/** Returns a watch that has not compared anything yet. */
export function createAdmissionWatch(init: AdmissionWatchInit): AdmissionWatch {
  const warnings = new Map<string, readonly string[]>();
  const relied = (): RequiredPolicies => reliedOn(init);

  async function look(): Promise<number> {
    const { policies, context } = relied();
    for (const policy of [...warnings.keys()].filter((each) => !policies.includes(each))) {
      warnings.delete(policy);
      init.onDifferences(policy, 0);
    }
    for (const policy of policies) {
      const before = warnings.get(policy) ?? [];
      const now = await compare(init, policy, context, before);
      warnings.set(policy, now);
      init.onDifferences(policy, now.length);
      for (const each of now.filter((warning) => !before.includes(warning)))
        init.log.warn({}, each);
    }
    return [...warnings.values()].flat().length > 0 ? RECHECK_DIFFERENCES_MS : RECHECK_EQUAL_MS;
  }

  return {
    run: (signal) =>
      poll({ subject: () => JSON.stringify(relied()), look, delay: init.delay }, signal),
    warnings: () => [...warnings.values()].flat(),
  };
}

interface RequiredPolicies {
  readonly policies: readonly string[];
  readonly context: AdmissionContext;
}

function reliedOn({
  permissions,
  namespace,
  secretNamespace,
}: AdmissionWatchInit): RequiredPolicies {
  const rules = permissions();
  const signerNames = namesIn(rules, 'signers', 'sign');
  const context = { namespace, secretNamespace, signerNames };
  const policies = namesIn(rules, POLICIES.plural, 'get');
  return { policies: policies.filter((each) => isReliedOn(each, context)), context };
}

function namesIn(
  rules: readonly PermissionRule[],
  plural: string,
  verb: string,
): readonly string[] {
  const matching = rules.filter(
    ({ resources, verbs }) => resources.includes(plural) && verbs.includes(verb),
  );
  return [...new Set(matching.flatMap(({ resourceNames = [] }) => resourceNames))];
}

/**
 * Returns the warnings about one policy. It records an Event if there are new ones since `before`.
 */
async function compare(
  init: AdmissionWatchInit,
  policy: string,
  context: AdmissionContext,
  before: readonly string[],
): Promise<readonly string[]> {
  let live: LiveAdmission;
  try {
    live = {
      policy: await read(init, POLICIES, policy),
      binding: await read(init, BINDINGS, policy),
    };
  } catch (error) {
    return [`cannot check admission policy ${policy}: ${messageOf(error)}`];
  }
  const found = admissionDifferences(policy, live, context);
  const risk = admissionRisk(policy);
  const warnings = found.map(
    (each) =>
      `${each}: ${risk} (apply what countersign rbac, or roles() of the library, prints with all your signer names)`,
  );
  if (warnings.some((each) => !before.includes(each))) {
    init.events.record({
      regarding: {
        apiVersion: POLICIES.apiVersion,
        kind: 'ValidatingAdmissionPolicy',
        name: policy,
      },
      type: 'Warning',
      reason: 'AdmissionPolicyDiffers',
      action: 'Compare',
      note: `${found.join('; ')}: ${risk}`,
    });
  }
  return warnings;
}

function read(
  { client }: AdmissionWatchInit,
  from: Resource,
  name: string,
): Promise<LiveAdmission['policy']> {
  const path = from.object({ name });
  return client
    .request<NonNullable<LiveAdmission['policy']>>({ method: 'GET', path })
    .catch(ignoreNotFound);
}
