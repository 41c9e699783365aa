#!/bin/bash
# Synthesises the recording that ships with the demo: visitors who speak at the desk of a museum, with pauses for the
# answers, hesitations inside sentences, a turned head and the noise of the room.
#
#   scripts/make-recording.sh [FOLDER]      writes visitor.wav and visitor.json (default: src/cli/demo)
#
# Needs espeak-ng and sox (both Debian packages). The same versions of them give the same bytes: all noise has a fixed
# seed. The sentences are the first of the emulator's phrase book (src/emulator/core/phrase-book.ts), so that its
# transcripts match the recording; keep both the same.
set -euo pipefail
export LC_ALL=C

RATE_HZ=24000
LEAD_IN_S=1.0
LEAD_OUT_S=1.5

# speaker | loudness in dB | pause after it in s | parts; a number between parts is a hesitation in s
SENTENCES=(
  "woman | -6  | 1.9 | Good morning, | 0.28 | I would like two tickets for the exhibition."
  "man   | -8  | 1.2 | Is there | 0.32 | a guided tour this afternoon?"
  "woman | -7  | 1.6 | Where can I leave my coat | 0.24 | and my bag?"
  "child | -10 | 1.0 | How old is this painting, | 0.22 | and who made it?"
  "man   | -7  | 1.4 | May I take photographs | 0.4 | without a flash?"
  "woman | -6  | 3.4 | My daughter uses a wheelchair. | 0.45 | Is there a lift to the second floor?"
  "man   | -16 | 1.5 | What time does the museum | 0.2 | close today?"
  "child | -9  | 0   | Thank you, | 0.3 | that was very kind of you."
)

# espeak-ng: voice, words per minute, pitch 0-99
declare -A VOICES=(
  [woman]="en-gb+f2 168 52"
  [man]="en-us+m3 172 38"
  [child]="en-gb+f4 178 88"
)

for tool in espeak-ng sox soxi; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is missing; on Debian: apt-get install espeak-ng sox" >&2
    exit 2
  fi
done
folder=${1:-$(dirname "$0")/../src/cli/demo}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Intermediate files have 32 bits, so that rounding happens only once, at the end.
run_sox() { sox -R -D "$@"; }
samples_of() { soxi -s "$1"; }
seconds() { awk -v n="$1" -v rate="$RATE_HZ" 'BEGIN { printf "%.3f", n / rate }'; }
trim_blanks() { sed 's/^ *//; s/ *$//' <<<"$1"; }

pause() { # seconds file
  run_sox -r "$RATE_HZ" -n -c 1 -b 32 "$2" trim 0 "$1"
}

say() { # speaker text file
  local voice words pitch
  read -r voice words pitch <<<"${VOICES[$1]}"
  espeak-ng -v "$voice" -s "$words" -p "$pitch" -w "$work/raw.wav" "$2"
  # Removes the silence around the synthesised speech; this script adds its own pauses.
  run_sox "$work/raw.wav" -b 32 "$3" rate -v "$RATE_HZ" \
    silence 1 0.005 0.4% fade t 0.005 reverse silence 1 0.005 0.4% fade t 0.01 reverse
}

track=()
place=0
append() { # file
  track+=("$1")
  place=$((place + $(samples_of "$1")))
}

append_pause() { # seconds
  local file="$work/pause-${#track[@]}.wav"
  pause "$1" "$file"
  append "$file"
}

entries=()
add_sentence() { # index line
  local fields parts=() hesitations=() text="" at=0 file
  IFS='|' read -ra fields <<<"$2"
  local speaker loudness gap
  speaker=$(trim_blanks "${fields[0]}")
  loudness=$(trim_blanks "${fields[1]}")
  gap=$(trim_blanks "${fields[2]}")
  for field in "${fields[@]:3}"; do
    field=$(trim_blanks "$field")
    file="$work/part-$1-${#parts[@]}.wav"
    if [[ $field =~ ^[0-9.]+$ ]]; then
      pause "$field" "$file"
      hesitations+=("{ \"start\": $(seconds $((place + at))), \"end\": $(seconds $((place + at + $(samples_of "$file")))) }")
    else
      say "$speaker" "$field" "$file"
      text+="${text:+ }$field"
    fi
    at=$((at + $(samples_of "$file")))
    parts+=("$file")
  done
  file="$work/sentence-$1.wav"
  run_sox "${parts[@]}" -b 32 "$file" gain -n "$loudness"
  local inside
  inside=$(printf ', %s' "${hesitations[@]}")
  entries+=("$(printf '    {\n      "speaker": "%s",\n      "text": "%s",\n      "start": %s,\n      "end": %s,\n      "hesitations": [%s]\n    }' \
    "$speaker" "$text" "$(seconds "$place")" "$(seconds $((place + $(samples_of "$file"))))" "${inside:2}")")
  append "$file"
  if [[ $gap != 0 ]]; then append_pause "$gap"; fi
}

append_pause "$LEAD_IN_S"
for index in "${!SENTENCES[@]}"; do add_sentence "$index" "${SENTENCES[$index]}"; done
append_pause "$LEAD_OUT_S"

# The room: a short reverberation, ventilation, mains hum. Never digital silence.
length="${place}s"
run_sox "${track[@]}" -b 32 "$work/speech.wav" reverb 15 60 20 0 0 -3
run_sox -r "$RATE_HZ" -n -c 1 -b 32 "$work/noise.wav" synth "$length" pinknoise highpass 70 lowpass 6000 gain -n -45.5
run_sox -r "$RATE_HZ" -n -c 1 -b 32 "$work/hum.wav" synth "$length" sine 100 gain -n -68
mkdir -p "$folder"
run_sox -m -v 1 "$work/speech.wav" -v 1 "$work/noise.wav" -v 1 "$work/hum.wav" -b 16 "$folder/visitor.wav"

{
  printf '{\n  "rate_hz": %d,\n  "seconds": %s,\n  "sentences": [\n' "$RATE_HZ" "$(seconds "$(samples_of "$folder/visitor.wav")")"
  for index in "${!entries[@]}"; do
    printf '%s%s\n' "${entries[$index]}" "$([[ $index -lt $((${#entries[@]} - 1)) ]] && echo ,)"
  done
  printf '  ]\n}\n'
} >"$folder/visitor.json"
echo "$folder/visitor.wav: $(seconds "$(samples_of "$folder/visitor.wav")") s, $(stat -c %s "$folder/visitor.wav") bytes"
