import { EchoBlock, type Sounds } from './echo-block.ts';
import { EchoGain } from './echo-gain.ts';
import type { EchoMeasure } from './echo-measure.ts';
import { EchoSpectrum } from './echo-spectrum.ts';
import { LagEvidence } from './lag-evidence.ts';

/** Correlates blocks of heard sound with the played sound at all lags at once, and keeps the evidence of earlier blocks. */
export interface EchoCorrelation {
  /** @param end place after the block's last sample */
  compare(played: Sounds, heard: Sounds, end: number): EchoMeasure | null;
}

/** Minimum ratio of the best lag's evidence to the mean of all lags. */
const LEAST_OVER_MEAN = 13;
/** Ratio to the mean that counts as full confidence. */
const CONFIDENT_OVER_MEAN = 40;
/** Minimum ratio of the best lag's evidence to its strongest rival's: a repeating sound (a hum, a beep) matches at many lags. */
const LEAST_OVER_RIVAL = 1.5;
/** `needed` of the last `of` blocks must each find the best lag, with this tolerance (ms). */
const VOTES = { needed: 2, of: 4, withinMs: 2 };

export interface CorrelationOptions {
  readonly rateHz: number;
  /** Heard samples per comparison. */
  readonly blockSamples: number;
  /** An echo may seem to come this much before its sound (samples). */
  readonly leadSamples: number;
}

export function createEchoCorrelation(options: CorrelationOptions): EchoCorrelation {
  return new BlockCorrelation(options);
}

/** Each block adds evidence for its lag and for the gain. A lag on which the blocks agree is a measurement. */
class BlockCorrelation implements EchoCorrelation {
  private readonly rateHz: number;
  private readonly leadSamples: number;
  private readonly block: EchoBlock;
  private readonly evidence: LagEvidence;
  private readonly gain: EchoGain;
  /** The best lags of the latest blocks. */
  private votes: readonly number[] = [];

  constructor({ rateHz, blockSamples, leadSamples }: CorrelationOptions) {
    const spectrum = new EchoSpectrum(blockSamples * 2, rateHz);
    this.rateHz = rateHz;
    this.leadSamples = leadSamples;
    this.block = new EchoBlock(spectrum, leadSamples);
    this.evidence = new LagEvidence(blockSamples, rateHz);
    this.gain = new EchoGain(spectrum, rateHz);
  }

  compare(played: Sounds, heard: Sounds, end: number): EchoMeasure | null {
    const { block, evidence, gain } = this;
    block.read(played, heard, end);
    gain.addPlayed(block.played);
    if (!block.isLoud()) return null;
    block.transform();
    gain.add(block);
    const { own, best, overMean, overRival } = evidence.add(block.correlate());
    this.votes = [...this.votes, own].slice(-VOTES.of);
    if (!this.isAgreed(best) || overMean < LEAST_OVER_MEAN || overRival < LEAST_OVER_RIVAL) return null;
    const measure = {
      delayMs: ((best - this.leadSamples) * 1000) / this.rateHz,
      gainDb: gain.dbAt(best),
      confidence: Math.min(1, overMean / CONFIDENT_OVER_MEAN),
    };
    this.restart();
    return measure;
  }

  private isAgreed(lag: number): boolean {
    const within = (VOTES.withinMs * this.rateHz) / 1000;
    return this.votes.filter((vote) => Math.abs(vote - lag) <= within).length >= VOTES.needed;
  }

  /** The next measurement needs new evidence. */
  private restart(): void {
    this.votes = [];
    this.evidence.clear();
    this.gain.clear();
  }
}
