# What ./start shows. Sourced at the top of the house; every command it runs is printed first, ready to be typed again.
show() {
  printf '\n$ %s\n' "${*@Q}"
  "$@"
}

mkdir -p runs
number=1
while [[ -e runs/atasozleri-$number ]]; do number=$((number + 1)); done
run=runs/atasozleri-$number

say "Training on data/atasozleri.txt, some 500 Turkish proverbs"
show build/dikkat train data/atasozleri.txt --out "$run" --preset shakespeare-cpu --steps 600 --eval-every 200
say "Writing"
show build/dikkat generate "$run" --prompt "Bir " --tokens 300 --temperature 0.7 --seed 1
say "What stands in $run now"
show build/dikkat info "$run"
say "The next run takes another name; the model just trained stays in $run. Its own text: build/dikkat train FILE --out runs/NAME"
