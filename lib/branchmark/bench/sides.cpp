#include "branchmark/bench/sides.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "branchmark/base/error.hpp"
#include "branchmark/model/weights.hpp"

namespace branchmark {
namespace {

std::shared_ptr<Session> session_beside(const std::shared_ptr<Session>& own,
                                        const std::filesystem::path& library) {
  SessionOptions options;
  options.level = own->level();
  options.on_cpu = own->on_cpu();
  options.open_context = [own, library](const auto&, const auto&) {
    return own->open_beside(ScenarioPath{library.string(), library}, std::nullopt);
  };
  options.kept_outputs = own->kept_outputs();
  // No cache: its entries are the own build's.
  return std::make_shared<Session>(own->scenario(), std::move(options));
}

void require_same_device(const bmk_device_info& own, const bmk_device_info& other) {
  if (own.is_cpu == other.is_cpu && std::string(own.uuid) == other.uuid) return;
  throw Error(ErrorCode::not_eligible,
              fmt::format("--against: the other build opened {} ({}), expected the run's own device {} ({}); "
                          "name it with --device",
                          static_cast<const char*>(other.name), static_cast<const char*>(other.uuid),
                          static_cast<const char*>(own.name), static_cast<const char*>(own.uuid)));
}

}  // namespace

BenchSides::BenchSides(std::shared_ptr<Session> own, const std::optional<std::filesystem::path>& against) {
  sessions_.push_back(std::move(own));
  if (against) sessions_.push_back(session_beside(sessions_.front(), *against));
  devices_.resize(sessions_.size());
}

Parameters BenchSides::on_side(Parameters parameters, std::size_t side) const {
  if (size() > 1) parameters.emplace_back("side", side == 0 ? "a" : "b");
  return parameters;
}

const std::shared_ptr<BenchDevice>& BenchSides::device(std::size_t side) {
  auto& device = devices_[side];
  if (device == nullptr) {
    const auto& context = sessions_[side]->context();
    if (side > 0) require_same_device(sessions_.front()->context()->info(), context->info());
    device = std::make_shared<BenchDevice>(context);
  }
  return device;
}

void BenchSides::require_room_for_weights() {
  if (size() == 1 || room_checked_) return;
  static_cast<void>(sessions_.front()->weights());
  const auto needed = weights_bytes(config());
  const auto free = sessions_.back()->context()->free_bytes();
  if (needed > free)
    throw Error(ErrorCode::not_eligible,
                fmt::format("--against: {} bytes of device memory are free, expected {} for the weights of a "
                            "second model beside the first; take a smaller model, fewer layers or --ops",
                            free, needed));
  room_checked_ = true;
}

}  // namespace branchmark
