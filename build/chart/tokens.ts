// SPDX-License-Identifier: Apache-2.0
/**
 * Plan of an installation with tokens in place of the values of a release. `emit.ts` writes
 * template actions for the tokens.
 */
import { type CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import { byServedKind, SERVED_KINDS, type ServedKind } from '#api/signer/cluster-signer.ts';
import { OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import type { InjectionProfile } from '#install/admission/injection/profiles.ts';
import { COMPONENTS } from '#install/component-list.ts';
import type { ComponentSettings, InstallationPlan } from '#install/installation-plan.ts';
import type { SidecarPlan } from '#install/key-holder-sidecar.ts';

/**
 * Names that stand for all names of their kind. The template loops where a list has one.
 */
export const SIGNER = '⟦signer⟧';
/** Domain whose signer names the roles all grant. */
export const DOMAIN = '⟦domain⟧';
export const BUNDLE = `${SIGNER}:⟦bundle⟧`;
export const SECRET = '⟦secret⟧';
/**
 * Stands for the names of the signers that serve one kind of requests, and for the Secrets of their
 * CAs.
 */
function servedSignerToken(kind: ServedKind): string {
  return `⟦signer of ${kind}⟧`;
}
export function servedSecretToken(kind: ServedKind): string {
  return `⟦secret of ${kind}⟧`;
}
/** Lists of the template, by such a token. */
export const SERVED_LISTS: Readonly<Record<string, string>> = Object.fromEntries(
  SERVED_KINDS.flatMap((kind) => [
    [servedSignerToken(kind), `$names.served.${kind}.signers`],
    [servedSecretToken(kind), `$names.served.${kind}.secrets`],
  ]),
);
/** The Secret of a Signer, and its namespace. */
export const TEAM_SECRET = '⟦team-secret⟧';
export const TEAM = '⟦team⟧';
/** The signer name of an AcmeClusterSigner, and the Secrets of its account. */
export const ACME_SIGNER = '⟦acme-signer⟧';
/** The signer name of an ExternalClusterSigner. */
export const EXTERNAL_SIGNER = '⟦external-signer⟧';
export const ACCOUNT = '⟦account⟧';
export const EXTERNAL = '⟦external⟧';
/** Secrets of AcmeSigners and of solvers, in the namespaces of a loop of their own. */
export const ACME_TEAM = '⟦acme-team⟧';
export const DNS_PLACE = '⟦dns-place⟧';
export const MONITORED_PLACE = '⟦monitored-place⟧';
/** The namespace of the requests of an upstream issuer, and the whole entry. */
export const UPSTREAM_PLACE = '⟦upstream-place⟧';
export const UPSTREAM_ISSUER = `${UPSTREAM_PLACE}/⟦issuer⟧`;
export const PLACED_SECRET = '⟦placed-secret⟧';
/** The API of a DNS provider. */
export const PROVIDER = '⟦provider⟧';
export const PROVIDER_SOLVER = '⟦provider-solver⟧';
/** A label or annotation of routes. */
export const ROUTE_ENTRY = '⟦route-entry⟧';
/** Endpoints that AcmeSigners may call. */
export const ADDRESS = '⟦address⟧';
/** A profile of injection, and one of its environment variables. */
export const PROFILE: InjectionProfile = {
  name: '⟦profile⟧',
  signerName: '⟦profile-signer⟧',
  keyType: '⟦key-type⟧',
  seconds: '⟦seconds⟧',
  mountPath: '⟦mount-path⟧',
  trustBundle: '⟦with-bundle⟧',
  environment: [{ name: '⟦variable⟧', value: '⟦value⟧' }],
};
/** Resources by the value of the chart that names their objects. */
export const CA_BUNDLES: readonly (readonly [value: string, CaBundleTarget['resource']])[] = [
  ['validatingWebhookConfigurations', 'validatingwebhookconfigurations'],
  ['mutatingWebhookConfigurations', 'mutatingwebhookconfigurations'],
  ['apiServices', 'apiservices'],
  ['customResourceDefinitions', 'customresourcedefinitions'],
];
/** Stands for the names of one of {@link CA_BUNDLES}. */
export function caBundleToken(value: string): string {
  return `⟦ca-bundle ${value}⟧`;
}
/** A foreign trust domain. */
export const FEDERATED = '⟦federated⟧';
/** Names that each release has once. */
export const NAMESPACE = '⟦namespace⟧';
export const KEYS = '⟦keys⟧';

/** Way in which components record in the ledger. */
export const LEDGER_MODE = '⟦ledger-mode⟧';
/** The Secret with the credentials of its PostgreSQL. */
export const LEDGER_DATABASE = '⟦ledger-database⟧';

/** Formats of a token's value. */
export type Wanted =
  /** A whole number. */
  | 'int'
  /** A string in quotes. */
  | 'quote'
  /** A string in quotes. Its field is absent if it is empty. */
  | 'text'
  /** YAML of any value. */
  | 'yaml'
  /** The field with its value, or nothing if the value is empty. */
  | 'with';

/** Value of the template's variable or path `expression`. */
function hole(wanted: Wanted, expression: string): string {
  return `⟦${wanted} ${expression}⟧`;
}

/** Rules of a NetworkPolicy, with the protocol of each port. */
function egressHole(rules: string): string {
  return hole('yaml', `(include "countersign.egress" ${rules} | fromJsonArray)`);
}

/** Reads what {@link hole} makes. */
export function readHole(text: unknown): { wanted: Wanted; expression: string } | undefined {
  const [, wanted, expression] = /^⟦(int|quote|text|yaml|with) ([^⟧]+)⟧$/.exec(String(text)) ?? [];
  if (wanted === undefined || expression === undefined) return undefined;
  return { wanted: wanted as Wanted, expression };
}

/** Additional entries of an object, or items of a list. */
const MORE = /^⟦more ([^⟧]+)⟧$/;

/** Expression of the entries or items that the template adds. */
export function readMore(text: unknown): string | undefined {
  return typeof text === 'string' ? MORE.exec(text)?.[1] : undefined;
}

/** Variants of the values that change more than a name. */
export interface Variant {
  readonly namespacedSigners: boolean;
  readonly affinity: boolean;
  /** Whether components record in a ledger. */
  readonly ledger: boolean;
  /** Whether the ledger uses PostgreSQL in place of a volume. */
  readonly postgres: boolean;
  /** Whether the installation has the component acme, and whether it marks Certificates. */
  readonly acme: boolean;
  readonly renews: boolean;
  /** Whether pcr-issuer reads pods and Services. */
  readonly podServices: boolean;
  /** Whether notifier reads pods. */
  readonly notifiedPods: boolean;
  /** Whether pcr-issuer and pod-refresher read records of the ledger. */
  readonly ledgerFacts: boolean;
  /** Whether the API server serves the ledger's API. */
  readonly aggregatedApi: boolean;
  /** Whether a signer issues the X509-SVID of bundle-endpoint. */
  readonly svidSigner: boolean;
  /** Whether a component has a key holder. */
  readonly keyHolder: boolean;
}

const SYMBOLIC_ACME = {
  signers: [ACME_SIGNER],
  accountKeys: [{ namespace: KEYS, name: ACCOUNT }],
  secrets: [
    { namespace: KEYS, name: EXTERNAL },
    { namespace: ACME_TEAM, name: PLACED_SECRET },
  ],
};

/** Returns the plan with tokens. It has every optional part, and the template decides. */
export function symbolicPlan({
  namespacedSigners,
  affinity,
  ledger,
  postgres,
  acme,
  renews,
  podServices,
  notifiedPods,
  ledgerFacts,
  aggregatedApi,
  svidSigner,
  keyHolder,
}: Variant): InstallationPlan {
  const labels = (path: string): Record<string, string> => ({ [`⟦more ${path}⟧`]: '' });
  const unreadable = {
    reference: hole('quote', '$names.image'),
    pullPolicy: hole('with', '$.Values.image.pullPolicy'),
    pullSecrets: hole('with', '$.Values.image.pullSecrets'),
  };
  const parts = {
    whoMayRequest: true,
    servingSigner: true,
    networkPolicy: {
      from: hole('yaml', '$.Values.networkPolicy.from'),
      notifierEgress: egressHole('$.Values.notifications.egress'),
    },
    notifierArguments: ['⟦more $names.notifierArgs⟧'],
    serviceMonitors: {
      labels: labels('$.Values.serviceMonitor.labels'),
      interval: hole('quote', '$.Values.serviceMonitor.interval'),
    },
    alerts: { labels: labels('$.Values.alerts.labels') },
    dashboards: { labels: labels('$.Values.dashboards.labels') },
    ...(ledger ? { ledgerMode: LEDGER_MODE } : {}),
    ...(postgres ? { ledgerPostgres: LEDGER_DATABASE } : {}),
    ledgerApiService: true,
    ledgerArguments: ['⟦more $names.ledgerArgs⟧'],
    ...(svidSigner ? { svidSigner: hole('quote', '$.Values.bundleEndpoint.svidSigner') } : {}),
    federationArguments: ['⟦more $names.federationArgs⟧'],
    federationEgress: egressHole('$.Values.federation.egress'),
    vault: {
      arguments: ['⟦more $names.vault.arguments⟧'],
      volumes: ['⟦more $names.vault.volumes⟧'],
      mounts: ['⟦more $names.vault.mounts⟧'],
    },
    externalVault: {
      arguments: ['⟦more $names.externalVault.arguments⟧'],
      volumes: ['⟦more $names.externalVault.volumes⟧'],
      mounts: ['⟦more $names.externalVault.mounts⟧'],
    },
    ledgerStorage: {
      size: hole('quote', '$.Values.ledger.storage.size'),
      className: hole('with', '$.Values.ledger.storage.className'),
    },
  };
  return {
    installation: {
      signers: [SIGNER],
      signerDomains: [DOMAIN],
      bundles: [BUNDLE],
      keysNamespace: KEYS,
      secrets: [{ namespace: KEYS, name: SECRET }],
      served: byServedKind((kind) => ({
        signers: [servedSignerToken(kind)],
        secrets: [{ namespace: KEYS, name: servedSecretToken(kind) }],
      })),
      namespacedSigners,
      signerSecrets: namespacedSigners ? [{ namespace: TEAM, name: TEAM_SECRET }] : [],
      podServices,
      notifiedPods,
      ledgerFacts,
      aggregatedApi,
      namespace: NAMESPACE,
      servingSigner: OWN_TLS_SIGNER,
      solverSecrets: [{ namespace: DNS_PLACE, name: PLACED_SECRET }],
      routeMetadata: [ROUTE_ENTRY],
      dnsWebhooks: [{ group: PROVIDER, solver: PROVIDER_SOLVER }],
      ...(acme ? { acme: { ...SYMBOLIC_ACME, renewCertificates: renews } } : {}),
      external: { signers: [EXTERNAL_SIGNER] },
      injection: [PROFILE],
      monitoredSecrets: [{ namespace: MONITORED_PLACE, name: PLACED_SECRET }],
      upstreamIssuers: [UPSTREAM_ISSUER],
      federated: [FEDERATED],
      caBundles: CA_BUNDLES.map(([value, resource]) => ({ resource, name: caBundleToken(value) })),
    },
    acme: {
      servers: [ADDRESS],
      solvers: [ADDRESS],
      networks: [ADDRESS],
      http01Zones: [ADDRESS],
    },
    keysNamespace: KEYS,
    namespaces: [NAMESPACE, KEYS],
    components: new Map(
      [...COMPONENTS.keys()].map((each) => [each, symbolicSettings(affinity, keyHolder)]),
    ),
    // Tokens are strings in place of numbers and lists.
    ...({ image: unreadable, parts } as unknown as Pick<InstallationPlan, 'image' | 'parts'>),
  };
}

/** Returns the expression for a part of a component's key holder. */
function holderPart(part: keyof SidecarPlan): string {
  return `(include "countersign.keyHolder" $settings.keyHolder | fromJson).${part}`;
}

function symbolicSettings(affinity: boolean, keyHolder: boolean): ComponentSettings {
  const holder = {
    args: [`⟦more ${holderPart('args')}⟧`],
    sources: hole('yaml', holderPart('sources')),
    resources: hole('yaml', holderPart('resources')),
    image: hole(
      'quote',
      '($settings.keyHolder.pkcs11 | default dict).image | default $names.image',
    ),
    env: hole('with', holderPart('env')),
    volumes: [`⟦more ${holderPart('volumes')}⟧`],
    mounts: [`⟦more ${holderPart('mounts')}⟧`],
  };
  const settings = {
    replicas: hole('int', '$settings.replicas'),
    resources: hole('yaml', '$settings.resources'),
    extraArgs: ['⟦more $settings.extraArgs⟧'],
    extraEnv: hole('with', '$settings.extraEnv'),
    labels: { '⟦more $settings.labels⟧': '' },
    annotations: { '⟦more $settings.annotations⟧': '' },
    nodeSelector: {
      '⟦more (omit ($settings.nodeSelector | default dict) "kubernetes.io/os")⟧': '',
    },
    ids: { '⟦more (include "countersign.podIds" $settings | fromJson)⟧': '' },
    tolerations: hole('with', '$settings.tolerations'),
    topologySpreadConstraints: hole('with', '$settings.topologySpreadConstraints'),
    priorityClassName: hole('text', '$settings.priorityClassName'),
    ...(affinity ? { affinity: hole('yaml', '($settings.affinity | default dict)') } : {}),
    ...(keyHolder ? { keyHolder: holder } : {}),
  };
  return settings as unknown as ComponentSettings;
}
