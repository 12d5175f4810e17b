// The document's print statements, line by line.
#include <fmt/format.h>

#include <cmath>

#include "dikkat/lessons/heads.h"

namespace dikkat::lessons {
namespace {

std::string python_list(std::span<const double> values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() == 1 ? "" : ", ") + python_float(value);
  return text + "]";
}

double share_rising(std::span<const HeadsSeries> series) {
  return static_cast<double>(rising(series)) / static_cast<double>(series.size());
}

std::string data_lines(const HeadsLesson& lesson) {
  std::string text = fmt::format("dizi {}, uzunluk {}, egitim {}, ayrilmis {}\n", lesson.series.size(), kHeadsSteps,
                                 lesson.training().size(), lesson.held_out().size());
  text += fmt::format("artis etiketi orani egitim {:.4f}, ayrilmis {:.4f}\n", share_rising(lesson.training()),
                      share_rising(lesson.held_out()));
  text += fmt::format("taban cizgisi (en sik sinif) {:.4f}\n", baseline(lesson.held_out()));
  return text + fmt::format("ornek dizi {}\n", python_list(lesson.series.front().readings));
}

std::string heads_table(const HeadsLesson& lesson) {
  std::string text =
      fmt::format("toplam ic boyut {}, tur {}, egitim ornegi {}, taban cizgisi {:.4f}\n", lesson.settings.width,
                  lesson.settings.epochs, lesson.training().size(), baseline(lesson.held_out()));
  text += fmt::format("{:>4}{:>12}{:>11}{:>10}{:>10}{:>10}{:>13}\n", "bas", "bas boyutu", "parametre", "kosum 1",
                      "kosum 2", "ortalama", "kosum farki");
  for (const auto& runs : lesson.with_position) {
    const double a = runs[0].accuracy();
    const double b = runs[1].accuracy();
    text +=
        fmt::format("{:>4}{:>12}{:>11}{:>10.4f}{:>10.4f}{:>10.4f}{:>13.4f}\n", runs[0].heads,
                    lesson.settings.width / runs[0].heads, runs[0].trained.count(), a, b, (a + b) / 2, std::abs(a - b));
  }
  return text;
}

std::string regions_table(const HeadsLesson& lesson) {
  std::string text = fmt::format("gorevin istedigi iki bolge: adim {}-{} ve {}-{}\n", kHeadsRegions[0].first,
                                 kHeadsRegions[0].last, kHeadsRegions[1].first, kHeadsRegions[1].last);
  text += fmt::format("{:18}{:>34}{:>10}{:>10}\n", "", "agirlik merkezleri", "ayriklik", "ayrilmis");
  for (const auto& runs : lesson.with_position) {
    for (const HeadsRun& run : runs) {
      std::string centres;
      for (const double centre : run.centres) centres += fmt::format("{}{:.2f}", centres.empty() ? "" : ", ", centre);
      text += fmt::format("{} bas, kosum {:<5}{:>34}{:>10.4f}{:>10.4f}\n", run.heads, run.number, centres,
                          run.separation, run.accuracy());
    }
  }
  return text;
}

std::string order_row(const char* name, const std::array<HeadsRun, 2>& runs) {
  return fmt::format("{:<28}{:>9.4f}{:>9.4f}{:>15.4f}{:>10.4f}\n", name, runs[0].accuracy(), runs[1].accuracy(),
                     runs[1].mean_change, runs[1].largest_change);
}

std::string order_table(const HeadsLesson& lesson) {
  std::string text = fmt::format("taban cizgisi (en sik sinif) {:.4f}\n", baseline(lesson.held_out()));
  text += fmt::format("{:28}{:>9}{:>9}{:>15}{:>10}\n", "", "kosum 1", "kosum 2", "ort |degisim|", "en buyuk");
  return text + order_row("konum kodlamasi var", lesson.with_position[1]) +
         order_row("konum kodlamasi yok", lesson.without_position);
}

}  // namespace

std::string as_published(const HeadsLesson& lesson) {
  return data_lines(lesson) + heads_table(lesson) + regions_table(lesson) + order_table(lesson);
}

}  // namespace dikkat::lessons
