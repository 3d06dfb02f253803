// SPDX-License-Identifier: Apache-2.0
/**
 * The plan of an installation that is not known yet: tokens where the values of a release will be. `emit.ts` writes
 * template actions for them.
 */
import { type CaBundleTarget } from '../../src/api/object/ca-bundle-target.ts';
import { OWN_TLS_SIGNER } from '../../src/api/signer/own-tls.ts';
import type { InjectionProfile } from '../../src/manifests/admission/injection/profiles.ts';
import { COMPONENTS } from '../../src/manifests/components.ts';
import type { ComponentSettings, InstallationPlan } from '../../src/manifests/installation-plan.ts';

/** Names that stand for all names of their kind: where one is in a list, the template has a loop. */
export const SIGNER = '⟦signer⟧';
export const BUNDLE = `${SIGNER}:⟦bundle⟧`;
export const SECRET = '⟦secret⟧';
/** The Secret of a Signer, and its namespace. */
export const TEAM_SECRET = '⟦team-secret⟧';
export const TEAM = '⟦team⟧';
/** The signer name of an AcmeClusterSigner, and the Secrets of its account. */
export const ACME_SIGNER = '⟦acme-signer⟧';
export const ACCOUNT = '⟦account⟧';
export const EXTERNAL = '⟦external⟧';
/** Secrets of AcmeSigners and of solvers, in the namespaces of a loop of their own. */
export const ACME_TEAM = '⟦acme-team⟧';
export const DNS_PLACE = '⟦dns-place⟧';
export const MONITORED_PLACE = '⟦monitored-place⟧';
export const PLACED_SECRET = '⟦placed-secret⟧';
/** The API of a DNS provider. */
export const PROVIDER = '⟦provider⟧';
export const PROVIDER_SOLVER = '⟦provider-solver⟧';
/** What AcmeSigners may have called. */
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
/** Value of the chart → the resource that it names objects of. */
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
/** Names of which a release has one. */
export const NAMESPACE = '⟦namespace⟧';
export const KEYS = '⟦keys⟧';

/** How components record in the ledger. */
export const LEDGER_MODE = '⟦ledger-mode⟧';
/** The Secret with the credentials of its PostgreSQL. */
export const LEDGER_DATABASE = '⟦ledger-database⟧';

/** What a token of a setting asks for. */
export type Wanted =
  /** A whole number. */
  | 'int'
  /** A string in quotes. */
  | 'quote'
  /** YAML of whatever it is. */
  | 'yaml'
  /** The field with its value, or nothing where that is empty. */
  | 'with';

/** A value that is in the template's variable or path `expression`. */
function hole(wanted: Wanted, expression: string): string {
  return `⟦${wanted} ${expression}⟧`;
}

/** Reads what {@link hole} makes. */
export function readHole(text: unknown): { wanted: Wanted; expression: string } | undefined {
  const [, wanted, expression] = /^⟦(int|quote|yaml|with) ([^⟧]+)⟧$/.exec(String(text)) ?? [];
  if (wanted === undefined || expression === undefined) return undefined;
  return { wanted: wanted as Wanted, expression };
}

/** More entries of an object, or more items of a list. */
const MORE = /^⟦more ([^⟧]+)⟧$/;

/** The expression of entries or items that the template adds. */
export function readMore(text: unknown): string | undefined {
  return typeof text === 'string' ? MORE.exec(text)?.[1] : undefined;
}

/** How the values differ that change more than a name. */
export interface Variant {
  readonly namespacedSigners: boolean;
  readonly affinity: boolean;
  /** Whether components record in a ledger. */
  readonly ledger: boolean;
  /** Whether the ledger has a PostgreSQL in place of a volume. */
  readonly postgres: boolean;
  /** Whether the component acme is there, and whether it marks Certificates. */
  readonly acme: boolean;
  readonly renews: boolean;
  /** Whether pcr-issuer reads pods and Services. */
  readonly podServices: boolean;
  /** Whether notifier reads pods. */
  readonly notifiedPods: boolean;
  /** Whether pcr-issuer and pod-refresher read records of the ledger. */
  readonly ledgerFacts: boolean;
  /** Whether a signer issues the X509-SVID of bundle-endpoint. */
  readonly svidSigner: boolean;
}

const SYMBOLIC_ACME = {
  signers: [ACME_SIGNER],
  accountKeys: [{ namespace: KEYS, name: ACCOUNT }],
  secrets: [
    { namespace: KEYS, name: EXTERNAL },
    { namespace: ACME_TEAM, name: PLACED_SECRET },
  ],
};

/** The plan with tokens; every optional part is there, and the template decides. */
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
  svidSigner,
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
      notifierEgress: hole('yaml', '$.Values.notifications.egress'),
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
    ledgerArguments: ['⟦more $names.ledgerArgs⟧'],
    ...(svidSigner ? { svidSigner: hole('quote', '$.Values.bundleEndpoint.svidSigner') } : {}),
    federationArguments: ['⟦more $names.federationArgs⟧'],
    federationEgress: hole('yaml', '$.Values.federation.egress'),
    ledgerStorage: {
      size: hole('quote', '$.Values.ledger.storage.size'),
      className: hole('with', '$.Values.ledger.storage.className'),
    },
  };
  return {
    installation: {
      signers: [SIGNER],
      bundles: [BUNDLE],
      secrets: [{ namespace: KEYS, name: SECRET }],
      namespacedSigners,
      signerSecrets: namespacedSigners ? [{ namespace: TEAM, name: TEAM_SECRET }] : [],
      podServices,
      notifiedPods,
      ledgerFacts,
      namespace: NAMESPACE,
      servingSigner: OWN_TLS_SIGNER,
      solverSecrets: [{ namespace: DNS_PLACE, name: PLACED_SECRET }],
      dnsWebhooks: [{ group: PROVIDER, solver: PROVIDER_SOLVER }],
      ...(acme ? { acme: { ...SYMBOLIC_ACME, renewCertificates: renews } } : {}),
      injection: [PROFILE],
      monitoredSecrets: [{ namespace: MONITORED_PLACE, name: PLACED_SECRET }],
      federated: [FEDERATED],
      caBundles: CA_BUNDLES.map(([value, resource]) => ({ resource, name: caBundleToken(value) })),
    },
    acme: {
      ...{ servers: [ADDRESS], solvers: [ADDRESS], networks: [ADDRESS], http01Zones: [ADDRESS] },
    },
    keysNamespace: KEYS,
    namespaces: [NAMESPACE, KEYS],
    components: new Map([...COMPONENTS.keys()].map((each) => [each, symbolicSettings(affinity)])),
    // Tokens are strings where numbers and lists will be.
    ...({ image: unreadable, parts } as unknown as Pick<InstallationPlan, 'image' | 'parts'>),
  };
}

function symbolicSettings(affinity: boolean): ComponentSettings {
  const settings = {
    replicas: hole('int', '$settings.replicas'),
    resources: hole('yaml', '$settings.resources'),
    extraArgs: ['⟦more $settings.extraArgs⟧'],
    extraEnv: hole('with', '$settings.extraEnv'),
    labels: { '⟦more $settings.labels⟧': '' },
    annotations: { '⟦more $settings.annotations⟧': '' },
    nodeSelector: hole('with', '$settings.nodeSelector'),
    tolerations: hole('with', '$settings.tolerations'),
    topologySpreadConstraints: hole('with', '$settings.topologySpreadConstraints'),
    priorityClassName: hole('with', '$settings.priorityClassName'),
    ...(affinity ? { affinity: hole('yaml', '$settings.affinity') } : {}),
  };
  return settings as unknown as ComponentSettings;
}
