# What ./start shows. Sourced at the top of the house; every command it runs is printed first, ready to be typed again.
show() {
  printf '\n$'
  printf ' %q' "$@"
  printf '\n'
  "$@"
}

mkdir -p runs
number=1
while [[ -e runs/atasozleri-$number ]]; do number=$((number + 1)); done
run=runs/atasozleri-$number

say "Training on $(wc -l <data/atasozleri.txt) Turkish proverbs, with samples of what the model writes on the way"
show build/dikkat train data/atasozleri.txt --out "$run" --seed "$number" --steps 1000 --sample-every 250
say "Proverbs that nobody said"
show build/dikkat generate "$run" --checkpoint best --prompt "Bir " --tokens 300 --temperature 0.6
say "What stands in $run now"
show build/dikkat info "$run"
say "To train on a text of your own: build/dikkat train FILE --out runs/NAME"
