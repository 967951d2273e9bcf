import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { KafkaCompressionName } from '@weir/runtime/engine-config';
import kafkajs from 'kafkajs';
import { compressFrame, decompressFrame } from 'lz4-napi';

/** How the records of a batch are packed. */
export interface KafkaCompression {
  /** Of the batch's attributes. */
  readonly code: 0 | 1 | 3;
  compress(records: Buffer): Promise<Buffer>;
}

const gzipAsync = promisify(gzip);

const COMPRESSIONS: Readonly<Record<KafkaCompressionName, KafkaCompression>> = {
  none: { code: 0, compress: async (records) => records },
  gzip: { code: 1, compress: (records) => gzipAsync(records, { level: constants.Z_BEST_SPEED }) },
  lz4: { code: 3, compress: (records) => compressFrame(records) },
};

export function kafkaCompression(name: KafkaCompressionName): KafkaCompression {
  return COMPRESSIONS[name];
}

/** kafkajs reads gzip by itself. What was written under another setting, or by another program, must stay readable. */
export function readLz4Too(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.LZ4] = () => ({
    compress: ({ buffer }: { readonly buffer: Buffer }) => compressFrame(buffer),
    decompress: (packed: Buffer) => decompressFrame(packed),
  });
}
