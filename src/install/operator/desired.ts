// SPDX-License-Identifier: Apache-2.0
import { ZodError } from 'zod';
import type { ComponentOverrides, CountersignSpec } from '#api/operator/countersign.ts';
import type { DesiredInstallation, Refusal } from '../reconcile/desired.ts';
import { SignerError } from '#base/errors.ts';
import { printable } from '#base/quote.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import {
  titleOf,
  type ManagedObject,
  toManagedObject,
} from '#kube/apply/objects/managed-object.ts';
import { COMPONENTS } from '../component-list.ts';
import { installationFiles } from '../files.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { planOf } from '../values/plan.ts';
import definitions from './definitions.json' with { type: 'json' };
import { checkArguments } from './check-flags.ts';
import {
  minorOf,
  flagSchemaOf,
  refusalOf,
  supportedMinors,
  type OperatorSettings,
} from './preflight.ts';
import { operatorRules } from './rules.ts';
import { refuseUnbounded } from './unbounded-settings.ts';

/**
 * The oldest supported minor version of Kubernetes 1, as in the chart and `countersign check`.
 * 1.35 also serves PodCertificateRequests, but its kubelets send no PKCS#10 request in them.
 */
const MIN_KUBERNETES_MINOR = 36;

type Signer = NonNullable<CountersignSpec['signers']>[number];

const DEFINITIONS: readonly ManagedObject[] = definitions.map(toManagedObject);

/**
 * Returns the objects of an installation and the permissions to install it, or the reason of a
 * refusal. It has no side effects.
 *
 * @param spec - as the API server's schema accepts it
 */
export function desiredInstallation(
  spec: CountersignSpec,
  settings: OperatorSettings,
): DesiredInstallation | Refusal {
  const refusal = refusalOf(spec, settings);
  if (refusal !== undefined) return refusal;
  try {
    const plan = planFor(spec, settings);
    // The checks above covered the shape of the values.
    const unbounded = refuseUnbounded(spec, settings.dangerZone);
    if (unbounded !== undefined) return unbounded;
    const [oldest] = supportedMinors(settings);
    const all = objectsOf(withFormerObjects(planFor(fullest(spec), settings)));
    const objects = objectsOf(plan);
    return {
      objects,
      removable: new Set(all.map(titleOf)),
      // Watch removable objects too, so that the last one of a namespace is removed like the
      // others.
      watched: [...objects, ...all.filter((each) => ruleOf(each).owned)],
      rules: operatorRules(plan, all),
      minKubernetesMinor: MIN_KUBERNETES_MINOR,
      oldest: supportedMinors(settings).length > 1 && minorOf(spec.version) === oldest,
      unknownArguments: unknownArguments(spec, settings),
    };
  } catch (error) {
    if (error instanceof ZodError) return invalid(textOf(error));
    if (error instanceof SignerError) return invalid(`spec.${error.message}`);
    throw error;
  }
}

/** Returns every object of a plan, with the definitions that it needs. */
function objectsOf(plan: InstallationPlan): readonly ManagedObject[] {
  const files = [...installationFiles(plan).values()].flat();
  return [...DEFINITIONS, ...files.map(toManagedObject)];
}

/** Returns the plan that the chart makes from the same values. */
function planFor(spec: CountersignSpec, settings: OperatorSettings): InstallationPlan {
  const { image, signers = [], servingSigner, whoMayRequest } = spec;
  const { signerDomains, namespacedSigners, podServices, acme, external, ledger } = spec;
  const { bundleEndpoint, upstreamIssuers, upstreamVaults } = spec;
  const { reference, pullPolicy, pullSecrets } = image ?? {};
  const values = {
    signers,
    signerDomains,
    namespacedSigners,
    podServices,
    upstreamIssuers,
    upstreamVaults,
    acme,
    external,
    ledger,
    servingSigner,
    whoMayRequest,
    bundleEndpoint,
    namespace: settings.namespace,
    keysNamespace: settings.keysNamespace,
    image: { pullPolicy, pullSecrets },
    defaults: spec.defaults,
    components: componentsOf(spec),
  };
  const plan = planOf(values, { namespace: '', version: spec.version });
  return {
    ...plan,
    image: { ...plan.image, reference: reference ?? `${settings.image}:${spec.version}` },
  };
}

/** Returns the overrides, with the arguments of the danger zone after the others. */
function componentsOf({
  components = {},
  dangerZone,
}: CountersignSpec): Readonly<Record<string, ComponentOverrides>> {
  const dangerous = Object.entries(dangerZone?.extraArgs ?? {}).map(([name, extraArgs]) => {
    const given = components[name] ?? {};
    return [name, { ...given, extraArgs: [...(given.extraArgs ?? []), ...extraArgs] }] as const;
  });
  return Object.fromEntries([...Object.entries(components), ...dangerous]);
}

/** Name of a Secret for those of a former spec. The titles of Roles do not depend on it. */
const FORMER_SECRET = 'former';

/**
 * Returns the plan with the objects of former specs and versions that this spec alone would not
 * have. Without its ledger, the APIService would block the deletion of namespaces. By a Role in
 * `kube-system`, the ledger read how the API server authenticates itself. By the Roles in the
 * namespace of the keys, components read the keys of CAs and accounts: they have to go with the
 * last Secret that a component needs there.
 */
function withFormerObjects({
  installation: { served: _, ...installation },
  parts,
  ...plan
}: InstallationPlan): InstallationPlan {
  const { secrets, acme } = installation;
  const former = { namespace: plan.keysNamespace, name: FORMER_SECRET };
  return {
    ...plan,
    installation: {
      ...installation,
      aggregatedApi: true,
      secrets: [...secrets, former],
      acme: {
        signers: [],
        secrets: [],
        ...acme,
        accountKeys: [...(acme?.accountKeys ?? []), former],
      },
    },
    parts: { ...parts, ledgerApiService: true },
  };
}

/**
 * Returns the spec with all optional parts. Its objects are those that the operator may have to
 * remove. Their names depend on no replicas and no resources, and a component that is off may not
 * work with those of `defaults`, and has no key holder.
 */
function fullest(spec: CountersignSpec): CountersignSpec {
  const given = Object.entries(spec.components ?? {});
  const optional = [...COMPONENTS].filter(([, { optional: each }]) => each !== undefined);
  const enabled = optional.map(([name, { replicas }]) => {
    const own = spec.components?.[name];
    const size = own?.enabled === true ? {} : { replicas };
    return [name, { ...own, ...size, enabled: true }] as const;
  });
  const components = [...given, ...enabled].map(
    ([name, each]) => [name, withoutResources(each)] as const,
  );
  return {
    ...spec,
    ...(spec.signers === undefined ? {} : { signers: spec.signers.map(servingNothing) }),
    whoMayRequest: true,
    servingSigner: { create: true },
    ...(spec.defaults === undefined ? {} : { defaults: withoutResources(spec.defaults) }),
    components: Object.fromEntries(components),
  };
}

/** Returns a held signer without kinds of requests, so that no component needs its key. */
function servingNothing(signer: Signer): Signer {
  return signer.keyHolder === true ? { ...signer, serves: [] } : signer;
}

function withoutResources({ resources: _, ...others }: ComponentOverrides): ComponentOverrides {
  return others;
}

function unknownArguments(spec: CountersignSpec, settings: OperatorSettings): readonly string[] {
  const flagSchema = flagSchemaOf(spec, settings);
  return Object.entries(spec.dangerZone?.extraArgs ?? {}).flatMap(([component, extraArgs]) =>
    checkArguments(flagSchema[component], extraArgs).unknown.map((flag) => `${component} ${flag}`),
  );
}

function invalid(message: string): Refusal {
  return { reason: 'InvalidSpec', message: printable(message) };
}

function textOf({ issues }: ZodError): string {
  return issues.map(({ path, message }) => `spec.${path.join('.')}: ${message}`).join('; ');
}
