import type { SingleNetworkSite } from '@weir/gateway/admission/proxy-misconfiguration-detector';
import type { Config } from '@weir/runtime/config/config';
import type { ThreadMetrics } from '@weir/runtime/prometheus-metrics';
import type { OwnedEngines } from '../ports/open-gateway-ports.ts';

/** What a gateway process gets when it is started. */
export interface GatewayInput {
  readonly config: Config;
  /** The port on which all gateway processes accept connections. Never 0. */
  readonly port: number;
  /** The Unix socket on which the main process answers the requests that a gateway process does not answer itself. */
  readonly mainSocket: string;
  /** The built files for browsers. */
  readonly publicDir: string;
  /** The reason why nothing may be written to the disk when the process starts. Undefined if there is enough free space. */
  readonly shortage: string | undefined;
}

/** What a gateway process calls in the main process. */
export interface MainCalls extends OwnedEngines {
  /** The gateway process calls this when it can receive messages. Node drops messages that arrive before the program has a listener. */
  loaded(): void;
  writeLine(line: string): void;
}

/** What the main process calls in a gateway process. */
export interface GatewayCalls {
  /** Resolves when the process accepts connections. */
  start(input: GatewayInput): Promise<void>;
  /** A row of a table of the embedded log has changed. */
  changeRow(table: string, key: string, value: string | undefined): void;
  setShortage(shortage: string | undefined): void;
  /** An empty call. Its answer shows that the process handles its messages. */
  ping(): void;
  metrics(): Promise<ThreadMetrics>;
  singleNetworkSites(): readonly SingleNetworkSite[];
  /** Resolves when all accepted requests are answered and the engines of the process are closed. */
  close(): Promise<void>;
}
